package clock

import "math"

// maxRate bounds the drift: crystals are off by some 10⁻⁵, a clock that is being slewed by 5·10⁻⁴.
const maxRate = 1e-3

// line fits x_a − x_b = intercept + rate·(t − origin), with t on b's clock, between the upper
// bounds (messages from a to b) and the lower bounds (messages from b to a). It returns the rate
// that leaves the widest range of intercepts, found by golden section search, because the width is
// a concave function of the rate, and that width. A negative width means that no line satisfies all
// bounds.
func line(above, below []point, origin int64) (rate, width float64) {
	low, high := -maxRate, maxRate
	const ratio = 0.6180339887498949
	x1, x2 := high-ratio*(high-low), low+ratio*(high-low)
	f1, f2 := room(above, below, origin, x1), room(above, below, origin, x2)
	for high-low > 1e-13 {
		if f1 < f2 {
			low, x1, f1 = x1, x2, f2
			x2 = low + ratio*(high-low)
			f2 = room(above, below, origin, x2)
		} else {
			high, x2, f2 = x2, x1, f1
			x1 = high - ratio*(high-low)
			f1 = room(above, below, origin, x1)
		}
	}
	rate = (low + high) / 2
	return rate, room(above, below, origin, rate)
}

// room returns the range that the bounds leave for the intercept of a line with this rate.
func room(above, below []point, origin int64, rate float64) float64 {
	most, least := math.Inf(1), math.Inf(-1)
	for _, p := range above {
		most = min(most, float64(p.bound())-rate*float64(p.effect-origin))
	}
	for _, p := range below {
		least = max(least, -float64(p.bound())-rate*float64(p.cause-origin))
	}
	return most - least
}

// rates returns the rate of each domain's correction relative to the first domain's. A domain gets
// a rate through messages in both directions with a domain that has one, and only if the rate
// explains what a constant correction cannot: if the constant leaves room, the rate must double it;
// if not, it must remove three quarters of the deficit.
//
// slack is the maximum error of a domain's correction in the run, in nanoseconds, due to other
// rates that satisfy the messages.
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
		if constant := room(above, below, origin, 0); constant < 0 && width > constant/4 || constant >= 0 && width > 2*constant {
			// rate is relative to b's clock; a's own runs 1 − rate as fast
			result[to] = (rate + result[from]) / (1 - rate)
			slack[to] += leeway(above, below, origin, rate)
		}
	}
}

// leeway returns the maximum distance of a line with another possible rate from the one with this
// rate, within the time span of the bounds.
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
			if middle := (possible + impossible) / 2; room(above, below, origin, middle) >= 0 {
				possible = middle
			} else {
				impossible = middle
			}
		}
		off = max(off, math.Abs(possible-rate))
	}
	return int64(math.Ceil(off * float64(last-origin) / 2))
}
