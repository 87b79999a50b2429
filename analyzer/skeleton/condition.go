package skeleton

import (
	"fmt"
	"slices"
)

// condition is true on some of the ranks that come here, sorted.
func (w *writer) condition(ranks, around []int, table string) (expression, error) {
	if e, found := w.simple(ranks, around); found {
		return e, nil
	}
	cells := make([][]string, len(w.ranks))
	for i, r := range w.ranks {
		cells[i] = []string{"0"}
		if slices.Contains(ranks, r) {
			cells[i][0] = "1"
		}
	}
	of := &subject{what: "which ranks do this", table: table}
	if err := w.room(of, len(cells)); err != nil {
		return expression{}, err
	}
	return expression{w.array("char", table, cells, true), "a condition is a table of ranks"}, nil
}

// maxModulus bounds the strides of ranks that are told by their remainder.
const maxModulus = 16

// simple is a condition that a person would write; false: there is none.
func (w *writer) simple(ranks, around []int) (expression, bool) {
	n := len(w.ranks)
	fits := func(f func(r int) bool) bool {
		have := 0
		for _, r := range around {
			if f(r) != slices.Contains(ranks, r) {
				return false
			}
			if f(r) {
				have++
			}
		}
		return have == len(ranks)
	}
	if len(ranks) == 0 {
		return expression{}, false
	}
	last, least, most := n-1, slices.Min(ranks), slices.Max(ranks)
	tells := n > 2 // the last rank from rank 1
	switch {
	case fits(func(r int) bool { return r == 0 }):
		return expression{text: "rank == 0"}, true
	case fits(func(r int) bool { return r != 0 }):
		return expression{text: "rank != 0"}, true
	case tells && fits(func(r int) bool { return r == last }):
		return expression{text: "rank == size - 1"}, true
	case tells && fits(func(r int) bool { return r != last }):
		return expression{text: "rank != size - 1"}, true
	case tells && fits(func(r int) bool { return r > 0 && r < last }):
		return expression{text: "rank > 0 && rank < size - 1"}, true
	}
	for m := 2; m <= min(maxModulus, n/2); m++ {
		for c := range m {
			if fits(func(r int) bool { return r%m == c }) {
				return expression{text: fmt.Sprintf("rank %% %d == %d", m, c)}, true
			}
			if fits(func(r int) bool { return r%m != c }) {
				return expression{text: fmt.Sprintf("rank %% %d != %d", m, c)}, true
			}
		}
	}
	fixed := "a condition names ranks"
	switch {
	case len(ranks) == 1 && fits(func(r int) bool { return r == least }):
		return expression{fmt.Sprintf("rank == %d", least), fixed}, true
	case fits(func(r int) bool { return r <= most }):
		return expression{fmt.Sprintf("rank <= %d", most), fixed}, true
	case fits(func(r int) bool { return r >= least }):
		return expression{fmt.Sprintf("rank >= %d", least), fixed}, true
	case fits(func(r int) bool { return r >= least && r <= most }):
		return expression{fmt.Sprintf("rank >= %d && rank <= %d", least, most), fixed}, true
	}
	for _, r := range around {
		if fits(func(q int) bool { return q != r }) {
			return expression{fmt.Sprintf("rank != %d", r), fixed}, true
		}
	}
	for bit := 2; bit < n; bit *= 2 {
		if fits(func(r int) bool { return r/bit%2 == 0 }) {
			return expression{fmt.Sprintf("rank / %d %% 2 == 0", bit), fixed}, true
		}
		if fits(func(r int) bool { return r/bit%2 == 1 }) {
			return expression{fmt.Sprintf("rank / %d %% 2 == 1", bit), fixed}, true
		}
	}
	for bit := 2; bit <= n/2; bit++ {
		for c := 0; c*bit < n; c++ {
			if fits(func(r int) bool { return r/bit == c }) {
				return expression{fmt.Sprintf("rank / %d == %d", bit, c), fixed}, true
			}
		}
	}
	return expression{}, false
}
