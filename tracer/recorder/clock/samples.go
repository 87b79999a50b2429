package clock

import (
	"math"

	"github.com/cairn-mpi/cairn/trace/timing"
)

// A rank samples its clocks with each buffer, some seconds apart, for days. Times between two kept
// samples are interpolated linearly. NTP changes the rate of a clock every few minutes, by up
// to 500 ppm, and sometimes sets the wall clock. If a dropped sample was far from the line between
// its neighbors, the ranks of one node would drift apart, since each samples at other times. So the
// samples closest to that line are dropped.
const (
	maxEvenSamples = 64 // limit for clocks with an even rate
	// limit for any clocks: with a change every five minutes, all samples of the last
	// two and a half days
	maxSamples = 512
	// evenDeviation is the deviation in ns up to which maxEvenSamples are enough.
	evenDeviation = 10_000
)

// Append appends a sample and thins the list out. It ignores a sample that is empty or not later
// than the last one.
func Append(samples []timing.ClockSample, s timing.ClockSample) []timing.ClockSample {
	n := len(samples)
	switch {
	case s == (timing.ClockSample{}):
		return samples
	case n > 0 && s.Ticks <= samples[n-1].Ticks:
		return samples // of another thread's record buffer, begun earlier but read later
	case n == maxSamples:
		samples = thinned(samples, n/2, math.Inf(1))
	case n >= maxEvenSamples && n%(maxEvenSamples/2) == 0:
		samples = thinned(samples, maxEvenSamples/2, evenDeviation)
	}
	return append(samples, s)
}

// thinned drops samples, those with the smallest deviation first, until left samples remain or
// every one deviates by more than most ns from the line between its neighbors. The first and the
// last sample stay.
func thinned(samples []timing.ClockSample, limit int, tolerance float64) []timing.ClockSample {
	for len(samples) > limit {
		next, least := -1, math.Inf(1)
		for i := 1; i < len(samples)-1; i++ {
			if off := offLine(&samples[i-1], &samples[i], &samples[i+1]); off < least {
				next, least = i, off
			}
		}
		if next < 0 || least > tolerance {
			break
		}
		samples = append(samples[:next], samples[next+1:]...)
	}
	return samples
}

// offLine returns the deviation of s from the line between a and b: the larger of the two clocks'
// deviations, in ns.
func offLine(a, s, b *timing.ClockSample) float64 {
	share := float64(s.Ticks-a.Ticks) / float64(b.Ticks-a.Ticks)
	monotonic := float64(s.MonotonicNS-a.MonotonicNS) - share*float64(b.MonotonicNS-a.MonotonicNS)
	wall := float64(s.RealtimeNS-a.RealtimeNS) - share*float64(b.RealtimeNS-a.RealtimeNS)
	return max(math.Abs(monotonic), math.Abs(wall))
}
