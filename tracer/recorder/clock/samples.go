package clock

import (
	"math"

	"github.com/cairn-mpi/cairn/trace/timing"
)

// A rank samples its clocks with each buffer: some seconds apart, for days. Between two samples that are kept times are on
// a line. NTP changes the rate of a clock every few minutes, by up to 500 ppm, and sets the wall clock now and then: where
// samples are left out that lie far from the line between the others, ranks of one node come apart, since each has samples
// of its own moments. So the ones that go are those that lie next to it.
const (
	fewSamples = 64  // are kept of clocks that go evenly, at most
	maxSamples = 512 // of any: with a change each five minutes, of the last two days and a half all
	// evenly is by how many nanoseconds a sample may be off where fewSamples are enough.
	evenly = 10_000
)

// Append appends a sample to those of a rank and thins them out. One that is empty, or not after the last, is left out.
func Append(samples []timing.ClockSample, s timing.ClockSample) []timing.ClockSample {
	n := len(samples)
	switch {
	case s == (timing.ClockSample{}):
		return samples
	case n > 0 && s.Ticks <= samples[n-1].Ticks:
		return samples // of another thread's record buffer, which was begun earlier and is read later
	case n == maxSamples:
		samples = thinned(samples, n/2, math.Inf(1))
	case n >= fewSamples && n%(fewSamples/2) == 0:
		samples = thinned(samples, fewSamples/2, evenly)
	}
	return append(samples, s)
}

// thinned leaves out samples until so many are left, or each is off by more from the line between its neighbors, in ns: the
// one that is off least first. The first and the last stay.
func thinned(samples []timing.ClockSample, left int, most float64) []timing.ClockSample {
	for len(samples) > left {
		next, least := -1, math.Inf(1)
		for i := 1; i < len(samples)-1; i++ {
			if off := offLine(&samples[i-1], &samples[i], &samples[i+1]); off < least {
				next, least = i, off
			}
		}
		if next < 0 || least > most {
			break
		}
		samples = append(samples[:next], samples[next+1:]...)
	}
	return samples
}

// offLine is by how much a sample is off from the line between two others, in ns of the clock that is off more.
func offLine(a, s, b *timing.ClockSample) float64 {
	share := float64(s.Ticks-a.Ticks) / float64(b.Ticks-a.Ticks)
	monotonic := float64(s.MonotonicNS-a.MonotonicNS) - share*float64(b.MonotonicNS-a.MonotonicNS)
	wall := float64(s.RealtimeNS-a.RealtimeNS) - share*float64(b.RealtimeNS-a.RealtimeNS)
	return max(math.Abs(monotonic), math.Abs(wall))
}
