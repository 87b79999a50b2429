package skeleton

import (
	"fmt"
	"strings"
)

// leastComputed is the minimum share of the run of a computation in the program. leastSpread is the
// minimum difference between ranks for times by rank.
const (
	leastComputed = 0.0005
	leastSpread   = 0.005
)

// compute returns the computation of the ranks before the calls of a step.
func (w *writer) compute(s *step) string {
	seconds := make([]float64, len(w.ranks))
	least, most, total, calls := -1.0, 0.0, 0.0, 0
	for row, b := range s.ranks {
		if b == nil || b.calls.n == 0 {
			continue
		}
		seconds[row] = b.computed / float64(b.calls.n)
		if least < 0 || b.computed < least {
			least = b.computed
		}
		most, total, calls = max(most, b.computed), total+b.computed, calls+b.calls.n
	}
	if most <= leastComputed*w.span {
		return ""
	}
	w.helpers["compute"] = true
	if most-least <= max(leastSpread*w.span, most/10) {
		return fmt.Sprintf("compute(%s)", secondsText(total/float64(calls)))
	}
	cells := make([][]string, len(seconds))
	for i, t := range seconds {
		cells[i] = []string{secondsText(t)}
	}
	row := w.array("double", fmt.Sprintf("seconds_%d", s.Number), cells, true)
	return fmt.Sprintf("compute(%s)", strings.Replace(row, "[rank]", "[rank % RECORDED_RANKS]", 1))
}

func secondsText(t float64) string {
	switch {
	case t < 1e-9:
		return "0"
	case t < 1e-3:
		return fmt.Sprintf("%.3ge-6", t*1e6)
	case t < 1:
		return fmt.Sprintf("%.3ge-3", t*1e3)
	}
	return fmt.Sprintf("%.4g", t)
}
