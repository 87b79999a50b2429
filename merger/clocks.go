package merger

import (
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// clockTolerance returns the largest change, in ns, of the time of a tick that omitted clock
// samples may cause. It is less than the difference of two readings of a clock in lossless traces,
// and much less than the rounding of moments in others.
func clockTolerance(mode timing.Mode) int64 {
	if mode == timing.Lossless {
		return 50
	}
	return 1000
}

// thinned omits the clock samples that lie on the line between the two around them to within a
// tolerance, in ns. The first and the last sample are kept, since the mean rate between them is
// used before and after.
func thinned(samples []timing.ClockSample, tolerance int64) []timing.ClockSample {
	if len(samples) < 3 {
		return samples
	}
	kept := []timing.ClockSample{samples[0]}
	from := 0
	for to := 2; to < len(samples); to++ {
		for k := from + 1; k < to; k++ {
			if !between(&samples[from], &samples[k], &samples[to], tolerance) {
				from = to - 1
				kept = append(kept, samples[from])
				break
			}
		}
	}
	return append(kept, samples[len(samples)-1])
}

// between reports whether a sample lies on the line between two others, to within a tolerance.
func between(a, s, b *timing.ClockSample, tolerance int64) bool {
	if b.Ticks <= a.Ticks {
		return false
	}
	share := float64(s.Ticks-a.Ticks) / float64(b.Ticks-a.Ticks)
	on := func(of func(*timing.ClockSample) int64) bool {
		off := float64(of(s)-of(a)) - share*float64(of(b)-of(a))
		return off <= float64(tolerance) && off >= -float64(tolerance)
	}
	return on(func(s *timing.ClockSample) int64 { return s.MonotonicNS }) && on(func(s *timing.ClockSample) int64 { return s.RealtimeNS })
}

// sharedClocks lets ranks of a node share clock samples: they read the same clocks.
type sharedClocks struct {
	tolerance int64
	byNode    map[string]*sharedClock // by boot id
}

// A sharedClock is the clock of the last rank on a node with samples of its own.
type sharedClock struct {
	kind                string
	samples             []timing.ClockSample
	monotonic, realtime func(ticks int64) int64 // ns
}

// samplesOf returns the samples of the rank before on the node if they agree with the rank's to
// within the tolerance, else the rank's own.
func (c *sharedClocks) samplesOf(r *trace.Rank) []timing.ClockSample {
	own := r.Clock.Samples
	node := c.byNode[r.BootID]
	if node != nil && len(own) > 0 && node.kind == r.Clock.Kind && !slices.ContainsFunc(own, func(s timing.ClockSample) bool {
		return !c.near(node.monotonic(s.Ticks), s.MonotonicNS) || !c.near(node.realtime(s.Ticks), s.RealtimeNS)
	}) {
		return node.samples
	}
	kept := thinned(own, c.tolerance)
	if r.BootID != "" && len(kept) > 1 {
		realtime := slices.Clone(kept)
		for i := range realtime {
			realtime[i].MonotonicNS = realtime[i].RealtimeNS
		}
		c.byNode[r.BootID] = &sharedClock{
			r.Clock.Kind, kept, (&timing.Clock{Samples: kept}).Nanoseconds(), (&timing.Clock{Samples: realtime}).Nanoseconds(),
		}
	}
	return kept
}

func (c *sharedClocks) near(a, b int64) bool { return a-b <= c.tolerance && b-a <= c.tolerance }

// starts rounds the start times of ranks to multiples of trace.StartUnit after the first one.
type starts struct {
	first int64
	known bool
}

func (s *starts) of(ns int64) int64 {
	if !s.known {
		s.first, s.known = ns, true
	}
	d := ns - s.first
	return ns - d + (d+trace.StartUnit/2)&^(trace.StartUnit-1)
}
