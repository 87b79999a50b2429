package merger

import (
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// clockTolerance is by how much the time of a tick may move, in ns, where clock samples are left out: less than what two
// readings of a clock differ by in lossless traces, and much less than moments are rounded by in others.
func clockTolerance(mode timing.Mode) int64 {
	if mode == timing.Lossless {
		return 50
	}
	return 1000
}

// thinned leaves out the clock samples that lie between the two around them to within a tolerance, in ns. The first and the
// last stay: before and after them the mean rate between these counts.
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

// A sharedClock is that of the last rank on a node that has samples of its own.
type sharedClock struct {
	kind                string
	samples             []timing.ClockSample
	monotonic, realtime func(ticks int64) int64 // ns
}

// samplesOf are those of the rank before on its node, where they say the same to within the tolerance, else its own.
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

// starts rounds when ranks started, to steps of trace.StartUnit from the first one on.
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
