package merger

import "github.com/cairn-mpi/cairn/trace"

// clockTolerance is by how much the time of a tick may move, in ns, where clock samples are left out: less than what two
// readings of a clock differ by in lossless traces, and much less than moments are rounded by in others.
func clockTolerance(mode trace.TimingMode) int64 {
	if mode == trace.TimingLossless {
		return 50
	}
	return 1000
}

// thinned leaves out the clock samples that lie between the two around them to within a tolerance, in ns. The first and the
// last stay: before and after them the mean rate between these counts.
func thinned(samples []trace.ClockSample, tolerance int64) []trace.ClockSample {
	if len(samples) < 3 {
		return samples
	}
	kept := []trace.ClockSample{samples[0]}
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
func between(a, s, b *trace.ClockSample, tolerance int64) bool {
	if b.Ticks <= a.Ticks {
		return false
	}
	share := float64(s.Ticks-a.Ticks) / float64(b.Ticks-a.Ticks)
	on := func(of func(*trace.ClockSample) int64) bool {
		off := float64(of(s)-of(a)) - share*float64(of(b)-of(a))
		return off <= float64(tolerance) && off >= -float64(tolerance)
	}
	return on(func(s *trace.ClockSample) int64 { return s.MonotonicNS }) && on(func(s *trace.ClockSample) int64 { return s.RealtimeNS })
}
