package timing

import (
	"math"
	"math/bits"
	"sort"
)

// A Clock converts ticks to time. Samples are in order of ticks.
type Clock struct {
	Kind    string // "tsc" or "monotonic" (1 tick = 1 ns)
	Samples []ClockSample
}

// A ClockSample is a reading of three clocks at the same time.
type ClockSample struct {
	Ticks, MonotonicNS, RealtimeNS int64
}

// A ClockMap converts a rank's ticks to nanoseconds of its node's CLOCK_MONOTONIC. It is piecewise
// linear between the samples, in integers, rounded towards the past. Before the first and after the
// last sample it uses the rate between these two: a rate from two samples that happen to be close
// would extrapolate their jitter.
type ClockMap struct {
	identity bool
	samples  []ClockSample // ticks strictly increasing, monotonic not decreasing
	segment  clockSegment  // the one used last
	slowest  float64       // nanoseconds per tick, at most
	ticks    int64         // latest argument of AtMost
	bound    int64         // and its result
}

// NewClockMap returns the map of a clock.
func NewClockMap(c *Clock) ClockMap {
	m := ClockMap{identity: c.Kind == "monotonic" || len(c.Samples) == 0}
	for _, s := range c.Samples {
		if n := len(m.samples); n == 0 || s.Ticks > m.samples[n-1].Ticks && s.MonotonicNS >= m.samples[n-1].MonotonicNS {
			m.samples = append(m.samples, s)
			if n > 0 {
				m.slowest = max(m.slowest, m.perTick(n-1, n))
			}
		}
	}
	return m
}

// Nanoseconds returns a function that converts ticks to nanoseconds of the node's CLOCK_MONOTONIC.
// It is for one goroutine.
func (c *Clock) Nanoseconds() func(ticks int64) int64 {
	m := NewClockMap(c)
	return m.Nanoseconds
}

// AtMost returns an upper bound of the duration in nanoseconds of the given number of ticks.
func (c *Clock) AtMost(ticks int64) int64 {
	m := NewClockMap(c)
	return m.AtMost(ticks)
}

// perTick is the number of nanoseconds per tick between two samples.
func (m *ClockMap) perTick(from, to int) float64 {
	a, b := &m.samples[from], &m.samples[to]
	return (float64(b.MonotonicNS) - float64(a.MonotonicNS)) / (float64(b.Ticks) - float64(a.Ticks))
}

// AtMost returns an upper bound of the duration in nanoseconds of the given number of ticks.
func (m *ClockMap) AtMost(ticks int64) int64 {
	if m.identity || ticks == 0 || len(m.samples) < 2 {
		return ticks
	}
	if ticks != m.ticks {
		m.ticks, m.bound = ticks, int64(float64(ticks)*m.slowest)+2 // both ends are rounded
	}
	return m.bound
}

// Nanoseconds returns the time of a tick. With a single sample, a tick is a nanosecond.
func (m *ClockMap) Nanoseconds(ticks int64) int64 {
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
	if s := &m.segment; ticks < s.begin || ticks >= s.end {
		m.enter(ticks)
	}
	return m.segment.nanoseconds(ticks)
}

// A clockSegment is the time between two samples.
type clockSegment struct {
	begin, end  int64 // ticks
	base        int64
	run         uint64 // ticks
	whole, part uint64 // nanoseconds = whole · ticks + part/run of them, part < run
	scale       uint64 // part/run in 2^-64, rounded down
}

// enter makes the segment of a tick the current one. The tick must be from the first sample on and
// before the last.
func (m *ClockMap) enter(ticks int64) {
	k := sort.Search(len(m.samples), func(i int) bool { return m.samples[i].Ticks > ticks }) - 1
	a, b := &m.samples[k], &m.samples[k+1]
	run, rise := uint64(b.Ticks)-uint64(a.Ticks), uint64(b.MonotonicNS)-uint64(a.MonotonicNS)
	m.segment = clockSegment{begin: a.Ticks, end: b.Ticks, base: a.MonotonicNS, run: run, whole: rise / run, part: rise % run}
	m.segment.scale, _ = bits.Div64(m.segment.part, 0, run)
}

// nanoseconds multiplies instead of dividing; the product with scale is less than 1 below the exact
// one.
func (s *clockSegment) nanoseconds(ticks int64) int64 {
	n := uint64(ticks) - uint64(s.begin)
	q, _ := bits.Mul64(n, s.scale)
	if n*s.part-q*s.run >= s.run {
		q++
	}
	return s.base + int64(n*s.whole+q)
}

// interpolate extrapolates from the sample at with the rate between a and b. The result is clamped
// to the range of int64.
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
