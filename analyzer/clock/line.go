package clock

import "math"

// maxRate bounds the drift that is believed: crystals are off by some 10⁻⁵, a clock that is being slewed by 5·10⁻⁴.
const maxRate = 1e-3

// line fits x_a − x_b = intercept + rate·(t − origin), t on b's clock, between the bounds from above (messages from a to
// b) and those from below (from b to a): the rate at which the widest stretch of intercepts is left, by golden section,
// since the width is a concave function of the rate. Width is what is left at that rate; negative: no line satisfies
// all bounds.
func line(above, below []point, origin int64) (rate, width float64) {
	low, high := -maxRate, maxRate
	const ratio = 0.6180339887498949
	x1, x2 := high-ratio*(high-low), low+ratio*(high-low)
	f1, f2 := between(above, below, origin, x1), between(above, below, origin, x2)
	for high-low > 1e-13 {
		if f1 < f2 {
			low, x1, f1 = x1, x2, f2
			x2 = low + ratio*(high-low)
			f2 = between(above, below, origin, x2)
		} else {
			high, x2, f2 = x2, x1, f1
			x1 = high - ratio*(high-low)
			f1 = between(above, below, origin, x1)
		}
	}
	rate = (low + high) / 2
	return rate, between(above, below, origin, rate)
}

// between is how much room the bounds leave for the intercept of a line with this rate.
func between(above, below []point, origin int64, rate float64) float64 {
	most, least := math.Inf(1), math.Inf(-1)
	for _, p := range above {
		most = min(most, float64(p.bound())-rate*float64(p.effect-origin))
	}
	for _, p := range below {
		least = max(least, -float64(p.bound())-rate*float64(p.cause-origin))
	}
	return most - least
}

// rates finds the rate of each domain's correction relative to the first domain's. A domain gets one through messages
// in both directions with a domain that has one, and only if it explains what a constant correction cannot: where that
// leaves room, a rate must double it, and where it leaves none, take three quarters of what is too little away.
//
// slack is by how much, in nanoseconds, a domain's correction may be off somewhere in the run because other rates would
// satisfy the messages too.
func rates(bounds map[pair]*series, n int, origin int64) (result []float64, slack []int64) {
	result, slack = make([]float64, n), make([]int64, n)
	done := make([]bool, n)
	done[0] = true
	for {
		// the best connected domain next, as in Prim's spanning tree
		from, to, best := -1, -1, 0
		for a := range n {
			for b := range n {
				if !done[a] || done[b] {
					continue
				}
				if both := min(len(bounds[pair{b, a}].known()), len(bounds[pair{a, b}].known())); both > best {
					from, to, best = a, b, both
				}
			}
		}
		if from < 0 {
			return result, slack
		}
		done[to] = true
		above, below := bounds[pair{to, from}].known(), bounds[pair{from, to}].known()
		rate, width := line(above, below, origin)
		result[to], slack[to] = result[from], slack[from]
		if constant := between(above, below, origin, 0); constant < 0 && width > constant/4 || constant >= 0 && width > 2*constant {
			// the rate is one of b's clock; a's own runs 1 − rate as fast
			result[to] = (rate + result[from]) / (1 - rate)
			slack[to] += leeway(above, below, origin, rate)
		}
	}
}

// leeway is how far a line with another possible rate can be from the one with this rate, within the bounds' time.
func leeway(above, below []point, origin int64, rate float64) int64 {
	last := origin
	for _, points := range [][]point{above, below} {
		for _, p := range points {
			last = max(last, p.effect)
		}
	}
	off := 0.0
	for _, limit := range []float64{rate - maxRate, rate + maxRate} {
		possible, impossible := rate, limit
		for range 60 {
			if middle := (possible + impossible) / 2; between(above, below, origin, middle) >= 0 {
				possible = middle
			} else {
				impossible = middle
			}
		}
		off = max(off, math.Abs(possible-rate))
	}
	return int64(math.Ceil(off * float64(last-origin) / 2))
}
