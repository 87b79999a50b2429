package skeleton

import (
	"fmt"
	"slices"
)

// condition returns a condition that is true on some of the ranks that get here; both lists are
// sorted. steps: the calls go to the neighbor at this displacement.
func (w *writer) condition(ranks, around, steps []int, table string) (expression, error) {
	if e, found := w.simple(ranks, around, steps); found {
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
	return expression{text: w.array("char", table, cells, true), fixed: "a condition is a table of ranks"}, nil
}

// maxModulus is the maximum stride of ranks in a condition on the remainder.
const maxModulus = 16

// simple returns a condition that a person would write; false: there is none. steps: the calls go
// to the neighbor at this displacement.
func (w *writer) simple(ranks, around, steps []int) (expression, bool) {
	if len(ranks) == 0 {
		return expression{}, false
	}
	if steps != nil {
		if e, found := w.atPlace(ranks, around, steps); found {
			return e, true
		}
	}
	t := trial{ranks: ranks, around: around, of: w}
	last, least, most := len(w.ranks)-1, slices.Min(ranks), slices.Max(ranks)
	tells := last > 1 // the last rank can be distinguished from rank 1
	switch {
	case t.fits("rank == 0", func(r, _ int) bool { return r == 0 }):
	case t.fits("rank != 0", func(r, _ int) bool { return r != 0 }):
	case tells && t.fits("rank == size - 1", func(r, n int) bool { return r == n-1 }):
	case tells && t.fits("rank != size - 1", func(r, n int) bool { return r != n-1 }):
	case tells && t.fits("rank > 0 && rank < size - 1", func(r, n int) bool { return r > 0 && r < n-1 }):
	case w.shape.is(binomialShape) && t.fits("children > 0", func(r, n int) bool { return childrenOf(&spot{rank: r, size: n}) > 0 }):
	case t.atPlace():
	case t.remainder():
	}
	if t.found {
		return t.e, true
	}
	t.fixed = "a condition names ranks"
	switch {
	case len(ranks) == 1 && t.fits(fmt.Sprintf("rank == %d", least), func(r, _ int) bool { return r == least }):
	case t.fits(fmt.Sprintf("rank <= %d", most), func(r, _ int) bool { return r <= most }):
	case t.fits(fmt.Sprintf("rank >= %d", least), func(r, _ int) bool { return r >= least }):
	case t.fits(fmt.Sprintf("rank >= %d && rank <= %d", least, most), func(r, _ int) bool { return r >= least && r <= most }):
	case t.butOne():
	case t.quotient():
	}
	return t.e, t.found
}

// A trial searches for the condition that is true on some of the ranks that get here.
type trial struct {
	of            *writer
	ranks, around []int
	fixed         string // the Fixed of conditions found next
	e             expression
	found         bool
}

func (t *trial) fits(text string, f func(rank, size int) bool) bool {
	have, n := 0, len(t.of.ranks)
	for _, r := range t.around {
		if f(r, n) != slices.Contains(t.ranks, r) {
			return false
		}
		if f(r, n) {
			have++
		}
	}
	if t.found = have == len(t.ranks); t.found {
		t.e = expression{text: text, fixed: t.fixed, value: func(s *spot) int64 {
			if f(s.rank, s.size) {
				return 1
			}
			return 0
		}}
	}
	return t.found
}

func (t *trial) atPlace() bool {
	t.e, t.found = t.of.atPlace(t.ranks, t.around, nil)
	return t.found
}

func (t *trial) remainder() bool {
	for m := 2; m <= min(maxModulus, len(t.of.ranks)/2); m++ {
		for c := range m {
			if t.fits(fmt.Sprintf("rank %% %d == %d", m, c), func(r, _ int) bool { return r%m == c }) ||
				t.fits(fmt.Sprintf("rank %% %d != %d", m, c), func(r, _ int) bool { return r%m != c }) {
				return true
			}
		}
	}
	return false
}

func (t *trial) butOne() bool {
	return slices.ContainsFunc(t.around, func(r int) bool {
		return t.fits(fmt.Sprintf("rank != %d", r), func(q, _ int) bool { return q != r })
	})
}

func (t *trial) quotient() bool {
	n := len(t.of.ranks)
	for bit := 2; bit < n; bit *= 2 {
		for c := range 2 {
			if t.fits(fmt.Sprintf("rank / %d %% 2 == %d", bit, c), func(r, _ int) bool { return r/bit%2 == c }) {
				return true
			}
		}
	}
	for part := 2; part <= n/2; part++ {
		for c := 0; c*part < n; c++ {
			if t.fits(fmt.Sprintf("rank / %d == %d", part, c), func(r, _ int) bool { return r/part == c }) {
				return true
			}
		}
	}
	return false
}
