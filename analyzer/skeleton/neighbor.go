package skeleton

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/cairn-mpi/cairn/mpi"
)

// neighbor returns a peer that is the neighbor in one direction of the shape on all ranks that have
// it: "Rewrite the trace by replacing all references to ranks with references to directions"
// (Logicalization of MPI communication traces, §4.3).
func (w *writer) neighbor(of *subject, columns []column) (expression, bool) {
	if of.kind != mpi.KindRank || !w.inWorld(columns) {
		return expression{}, false
	}
	switch {
	case w.shape.is(gridShape):
		return w.inGrid(columns)
	case w.shape.is(binomialShape):
		parent := func(s *spot) int64 { return int64(s.rank & (s.rank - 1)) }
		if w.agree(columns, parent) {
			return expression{text: "rank & (rank - 1)", value: parent}, true
		}
	}
	return expression{}, false
}

// inWorld reports whether ranks are those of MPI_COMM_WORLD.
func (w *writer) inWorld(columns []column) bool {
	return !slices.ContainsFunc(columns, func(c column) bool { return c.own != c.world || c.size != len(w.ranks) })
}

// spotOf returns the spot of a rank in the recorded run.
func (w *writer) spotOf(rank int) *spot {
	s := &spot{rank: rank, size: len(w.ranks)}
	if w.shape.is(gridShape) {
		s.extents, s.at = w.shape.extents, coordinates(rank, w.shape.extents)
	}
	return s
}

// agree reports whether a function gives the value of each rank in each iteration.
func (w *writer) agree(columns []column, f func(*spot) int64) bool {
	for _, c := range columns {
		at := w.spotOf(c.world)
		for turn, x := range c.values {
			number := x.number
			if x.name == "MPI_PROC_NULL" {
				number = noRank
			} else if x.name != "" {
				return false
			}
			if at.turn = turn; f(at) != number {
				return false
			}
		}
	}
	return true
}

// inGrid returns the neighbor in one direction of a grid.
func (w *writer) inGrid(columns []column) (expression, bool) {
	steps := w.direction(columns)
	if steps == nil {
		return expression{}, false
	}
	e := expression{text: fmt.Sprintf("neighbor(%s)", numbers(steps)), value: func(s *spot) int64 { return w.shape.neighbor(s, steps) }}
	if len(steps) == 1 {
		null := slices.ContainsFunc(columns, func(c column) bool { return c.values[0].name != "" })
		switch {
		case null:
			return expression{}, false // a condition is simpler
		case w.shape.periodic[0] && steps[0] < 0:
			e.text = "(rank + size - 1) % size"
		case w.shape.periodic[0]:
			e.text = "(rank + 1) % size"
		default:
			e.text = sum("rank", int64(steps[0]))
		}
	}
	return e, w.agree(columns, e.value)
}

// direction returns the displacement of the peers of ranks, nil: it differs.
func (w *writer) direction(columns []column) []int {
	for _, c := range columns {
		if x := c.values[0]; x.name == "" && x.number >= 0 && x.number < int64(len(w.ranks)) {
			return w.shape.steps(c.world, int(x.number))
		}
	}
	return nil
}

// byTurn returns a peer that differs from iteration to iteration according to the shape: the ranks
// that differ in one bit, or the children in a tree.
func (w *writer) byTurn(of *subject, columns []column) (expression, bool) {
	if of.kind != mpi.KindRank || !w.inWorld(columns) || of.turns == nil {
		return expression{}, false
	}
	type form struct {
		text string
		f    func(*spot) int64
	}
	var forms []form
	switch {
	case w.shape.is(hypercubeShape):
		forms = []form{
			{"rank ^ (1 << %s)", func(s *spot) int64 { return int64(s.rank ^ 1<<s.turn) }},
			{"rank ^ (1 << (bits - 1 - %s))", func(s *spot) int64 { return int64(s.rank ^ 1<<(bitsOf(s)-1-s.turn)) }},
		}
	case w.shape.is(binomialShape):
		forms = []form{
			{"rank | 1 << %s", func(s *spot) int64 { return int64(s.rank | 1<<s.turn) }},
			{"rank | 1 << (children - 1 - %s)", func(s *spot) int64 { return int64(s.rank | 1<<(childrenOf(s)-1-int64(s.turn))) }},
		}
	default:
		return expression{}, false
	}
	for _, x := range forms {
		if w.agree(written(columns, w, of.turns), x.f) {
			return expression{text: fmt.Sprintf(x.text, of.index), value: x.f, turns: true}, true
		}
	}
	return expression{}, false
}

// written returns columns with as many values as there are turns.
func written(columns []column, w *writer, turns func(*spot) int64) []column {
	list := slices.Clone(columns)
	for i, c := range list {
		n := max(len(c.values), int(turns(w.spotOf(c.world))))
		list[i].values = make([]scalar, n)
		for k := range n {
			list[i].values[k] = c.values[k%len(c.values)]
		}
	}
	return list
}

// bitsOf returns the dimension of a hypercube.
func bitsOf(s *spot) int { return bits.Len(uint(s.size - 1)) }

// childrenOf returns the number of children of a rank in the binomial tree of MPI libraries'
// broadcasts: the parent has the lowest bit cleared.
func childrenOf(s *spot) int64 {
	n := 0
	for s.rank&(2<<n-1) == 0 && s.rank|1<<n < s.size {
		n++
	}
	return int64(n)
}
