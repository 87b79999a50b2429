package skeleton

import (
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// byShape finds the loops with as many iterations as the shape has dimensions (a hypercube), or the
// rank has children (a tree). Several rounds over the dimensions become a loop around a loop.
func (w *writer) byShape(steps []*step) []*step {
	if !w.shape.is(hypercubeShape) && !w.shape.is(binomialShape) {
		return steps
	}
	list := make([]*step, len(steps))
	for i, s := range steps {
		s.body = w.byShape(s.body)
		list[i] = s
		switch {
		case w.shape.is(binomialShape) && w.oftenAsChildren(s):
			s.turns = &expression{text: "children", value: childrenOf}
		case w.shape.is(hypercubeShape) && w.rounds(s) > 0:
			list[i] = w.round(s, w.rounds(s))
			s.turns = &expression{text: "bits", value: func(at *spot) int64 { return int64(bitsOf(at)) }}
		}
	}
	return list
}

// oftenAsChildren reports whether each rank makes as many iterations as it has children.
func (w *writer) oftenAsChildren(s *step) bool {
	for row, r := range w.ranks {
		children, b := childrenOf(w.spotOf(r)), s.ranks[row]
		if b == nil && children > 0 || b != nil && (b.trips.list != nil || int64(b.trips.same) != children) {
			return false
		}
	}
	return true
}

// rounds returns how often a loop goes over all dimensions; 0: it does not.
func (w *writer) rounds(s *step) int {
	trips := 0
	for _, b := range s.ranks {
		if b == nil || b.trips.list != nil || trips > 0 && int(b.trips.same) != trips {
			return 0
		}
		trips = int(b.trips.same)
	}
	if trips%w.shape.bits != 0 || !w.turns(s) || trips > w.shape.bits && w.scale < 1 {
		return 0 // otherwise loops are shortened by rounds
	}
	return trips / w.shape.bits
}

// turns reports whether calls go to another peer in each of as many iterations as there are
// dimensions.
func (w *writer) turns(s *step) bool {
	if slices.ContainsFunc(s.body, w.turns) {
		return true
	}
	if s.function == nil || len(s.body) > 0 {
		return false
	}
	peer := max(s.meaning.In[semantics.Destination], s.meaning.In[semantics.Source])
	return peer >= 0 && !slices.ContainsFunc(s.ranks, func(b *behavior) bool { return b == nil || len(b.calls.cycle()) != w.shape.bits })
}

// round wraps a loop of several rounds into a loop.
func (w *writer) round(s *step, rounds int) *step {
	if rounds == 1 {
		return s
	}
	outer := &step{Step: &program.Step{Number: len(w.steps), Terminal: -1}, body: []*step{s}, ranks: make([]*behavior, len(s.ranks))}
	w.steps = append(w.steps, outer)
	outer.share()
	for row, b := range s.ranks {
		outer.ranks[row] = &behavior{own: b.own, size: b.size, comm: b.comm, trips: series{n: b.trips.n, same: int32(rounds)}}
		b.trips = series{n: b.trips.n * rounds, same: b.trips.same / int32(rounds)}
	}
	return outer
}
