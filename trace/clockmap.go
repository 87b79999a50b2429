package trace

import (
	"math"
	"math/bits"
)

// A clockMap turns a rank's ticks into nanoseconds of its node's CLOCK_MONOTONIC: piecewise linear through the
// samples, in integers, rounded towards the past. Before the first and after the last sample the rate between these two
// goes on: a rate taken from two samples that happen to be close would carry their jitter far.
type clockMap struct {
	identity bool
	samples  []ClockSample // ticks strictly increasing, monotonic not decreasing
	at       int           // the segment that was used last: from samples[at] to samples[at+1]
}

func newClockMap(c *Clock) clockMap {
	m := clockMap{identity: c.Kind == "monotonic" || len(c.Samples) == 0}
	for _, s := range c.Samples {
		if n := len(m.samples); n == 0 || s.Ticks > m.samples[n-1].Ticks && s.MonotonicNS >= m.samples[n-1].MonotonicNS {
			m.samples = append(m.samples, s)
		}
	}
	return m
}

// nanoseconds is the time of a tick. With a single sample a tick counts as a nanosecond.
func (m *clockMap) nanoseconds(ticks int64) int64 {
	if m.identity {
		return ticks
	}
	last := len(m.samples) - 1
	first, end := &m.samples[0], &m.samples[last]
	switch {
	case last == 0:
		return first.MonotonicNS + ticks - first.Ticks
	case ticks < first.Ticks:
		return interpolate(first, first, end, ticks)
	case ticks >= end.Ticks:
		return interpolate(end, first, end, ticks)
	}
	for ticks < m.samples[m.at].Ticks {
		m.at--
	}
	for ticks >= m.samples[m.at+1].Ticks {
		m.at++
	}
	return interpolate(&m.samples[m.at], &m.samples[m.at], &m.samples[m.at+1], ticks)
}

// interpolate goes from the sample at the rate between a and b. What does not fit into an int64 becomes the nearest
// that does.
func interpolate(at, a, b *ClockSample, ticks int64) int64 {
	run, rise := uint64(b.Ticks)-uint64(a.Ticks), uint64(b.MonotonicNS)-uint64(a.MonotonicNS)
	if ticks >= at.Ticks {
		hi, lo := bits.Mul64(uint64(ticks)-uint64(at.Ticks), rise)
		if hi >= run {
			return math.MaxInt64
		}
		q, _ := bits.Div64(hi, lo, run)
		if q > uint64(math.MaxInt64)-uint64(at.MonotonicNS) && at.MonotonicNS >= 0 || q > math.MaxInt64 {
			return math.MaxInt64
		}
		return at.MonotonicNS + int64(q)
	}
	hi, lo := bits.Mul64(uint64(at.Ticks)-uint64(ticks), rise)
	if hi >= run {
		return math.MinInt64
	}
	q, rest := bits.Div64(hi, lo, run)
	if rest > 0 {
		q++
	}
	if q > math.MaxInt64 || at.MonotonicNS < math.MinInt64+int64(q) {
		return math.MinInt64
	}
	return at.MonotonicNS - int64(q)
}
