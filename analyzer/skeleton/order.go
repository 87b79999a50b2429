package skeleton

import (
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// An order is preceding steps, with the ranks that reach them.
type order struct {
	steps []*step
	ranks []int
	times func(*spot) float64
}

// inOrder records where no rank makes the calls of consecutive steps, but ranks would with other
// numbers of ranks: then their order is unknown. In a grid with two ranks along a dimension, each
// has a neighbor on one side only.
func (w *writer) inOrder(last *order, next order) {
	before := *last
	*last = next
	if !w.shape.isGrid() || before.steps == nil || !disjoint(before.ranks, next.ranks) || !communicate(before.steps) || !communicate(next.steps) {
		return
	}
	if before.times != nil && next.times != nil && !w.meet(before.times, next.times) {
		return
	}
	w.noteRestriction(expression{fixed: fmt.Sprintf("no rank makes both of %s and %s: elsewhere, the order is not known", w.nameOf(before.steps[0]), w.nameOf(next.steps[0]))})
}

// meet reports whether ranks reach both of two steps with other numbers of ranks.
func (w *writer) meet(a, b func(*spot) float64) bool {
	for _, n := range tested(len(w.ranks)) {
		for _, s := range w.shape.spots(n) {
			if a(&s) != 0 && b(&s) != 0 {
				return true
			}
		}
	}
	return false
}

// communicate reports whether steps have calls that may wait for others.
func communicate(steps []*step) bool {
	return slices.ContainsFunc(steps, func(s *step) bool {
		return communicate(s.body) || s.meaning != nil && !s.meaning.IsLocalQuery()
	})
}

// towards returns the displacement of the neighbor of a call; nil: there is none.
func (w *writer) towards(s *step) []int {
	for len(s.body) > 0 {
		s = s.body[0]
	}
	if !w.shape.isGrid() || s.meaning == nil {
		return nil
	}
	var columns []column
	peer := int(s.meaning.In[semantics.Destination])
	if peer < 0 {
		peer = int(s.meaning.In[semantics.Source])
	}
	for row, b := range s.ranks {
		if b == nil || b.calls.n == 0 || peer < 0 {
			continue
		}
		one := column{world: w.ranks[row], own: b.own, size: b.size}
		for _, id := range b.calls.cycle() {
			one.values = append(one.values, scalarIn(nth(false, peer)(&s.vectors[id])))
		}
		columns = append(columns, one)
	}
	if len(columns) == 0 || !w.inWorld(columns) {
		return nil
	}
	steps := w.direction(columns)
	if steps == nil || !w.agree(columns, func(at *spot) int64 { return w.shape.neighbor(at, steps) }) {
		return nil
	}
	return steps
}

// timesOf returns how often ranks get somewhere according to an expression: a condition, or a
// number of iterations.
func timesOf(e expression) func(*spot) float64 {
	switch {
	case e.text == "":
		return func(*spot) float64 { return 1 }
	case e.value == nil:
		return nil
	}
	return func(s *spot) float64 { return float64(e.value(s)) }
}

// otherTimes returns that of an else branch.
func otherTimes(f func(*spot) float64) func(*spot) float64 {
	if f == nil {
		return nil
	}
	return func(s *spot) float64 { return 1 - f(s) }
}

// together returns how often ranks get somewhere that they reach in a share of all iterations.
func together(f func(*spot) float64, share float64, condition bool) func(*spot) float64 {
	switch {
	case share < 0 || condition && f == nil:
		return nil
	case !condition:
		return func(*spot) float64 { return share }
	}
	return func(s *spot) float64 { return share * f(s) }
}

// sharePresent returns the share of the iterations that all ranks have; −1: they differ.
func sharePresent(columns []column) float64 {
	if !alike(columns) {
		return -1
	}
	n := 0
	for _, x := range columns[0].values {
		n += int(x.number)
	}
	return float64(n) / float64(len(columns[0].values))
}
