package timing

import (
	"math"
	"math/bits"
	"sort"
)

// Clock turns ticks into time. Samples are taken together, in order of ticks.
type Clock struct {
	Kind    string // "tsc" or "monotonic" (1 tick = 1 ns)
	Samples []ClockSample
}

// A ClockSample reads three clocks at one moment.
type ClockSample struct {
	Ticks, MonotonicNS, RealtimeNS int64
}

// A ClockMap turns a rank's ticks into nanoseconds of its node's CLOCK_MONOTONIC: piecewise linear through the
// samples, in integers, rounded towards the past. Before the first and after the last sample the rate between these two
// goes on: a rate taken from two samples that happen to be close would carry their jitter far.
type ClockMap struct {
	identity bool
	samples  []ClockSample // ticks strictly increasing, monotonic not decreasing
	segment  clockSegment  // the one that was used last
	slowest  float64       // nanoseconds per tick, at most
	ticks    int64         // that atMost was asked of last,
	bound    int64         // and what it said
}

// NewClockMap makes the map of a clock.
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

// Nanoseconds gives a function that turns ticks into nanoseconds of the node's CLOCK_MONOTONIC. It is for one goroutine.
func (c *Clock) Nanoseconds() func(ticks int64) int64 {
	m := NewClockMap(c)
	return m.Nanoseconds
}

// AtMost is how many nanoseconds so many ticks can be.
func (c *Clock) AtMost(ticks int64) int64 {
	m := NewClockMap(c)
	return m.AtMost(ticks)
}

// perTick is how many nanoseconds a tick took between two samples.
func (m *ClockMap) perTick(from, to int) float64 {
	a, b := &m.samples[from], &m.samples[to]
	return (float64(b.MonotonicNS) - float64(a.MonotonicNS)) / (float64(b.Ticks) - float64(a.Ticks))
}

// AtMost is how many nanoseconds so many ticks can be.
func (m *ClockMap) AtMost(ticks int64) int64 {
	if m.identity || ticks == 0 || len(m.samples) < 2 {
		return ticks
	}
	if ticks != m.ticks {
		m.ticks, m.bound = ticks, int64(float64(ticks)*m.slowest)+2 // both ends are rounded
	}
	return m.bound
}

// Nanoseconds is the time of a tick. With a single sample a tick counts as a nanosecond.
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

// A clockSegment is what lies between two samples.
type clockSegment struct {
	begin, end  int64 // ticks
	base        int64
	run         uint64 // ticks
	whole, part uint64 // nanoseconds = whole · ticks + part/run of them, part < run
	scale       uint64 // part/run in 2^-64, rounded down
}

// enter goes to the segment of a tick from the first sample on and before the last.
func (m *ClockMap) enter(ticks int64) {
	k := sort.Search(len(m.samples), func(i int) bool { return m.samples[i].Ticks > ticks }) - 1
	a, b := &m.samples[k], &m.samples[k+1]
	run, rise := uint64(b.Ticks)-uint64(a.Ticks), uint64(b.MonotonicNS)-uint64(a.MonotonicNS)
	m.segment = clockSegment{begin: a.Ticks, end: b.Ticks, base: a.MonotonicNS, run: run, whole: rise / run, part: rise % run}
	m.segment.scale, _ = bits.Div64(m.segment.part, 0, run)
}

// nanoseconds multiplies instead of dividing; the product with scale is too small by less than 1.
func (s *clockSegment) nanoseconds(ticks int64) int64 {
	n := uint64(ticks) - uint64(s.begin)
	q, _ := bits.Mul64(n, s.scale)
	if n*s.part-q*s.run >= s.run {
		q++
	}
	return s.base + int64(n*s.whole+q)
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
