package skeleton

import (
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// maxDirections is the maximum number of calls that a repeated call is split into: all neighbors in
// three dimensions.
const maxDirections = 26

// unroll splits a call that is repeated for each neighbor: one call for each direction, on the
// ranks with a neighbor there. A loop over neighbors would need tables of their numbers and ranks.
func (w *writer) unroll(steps []*step) []*step {
	var list []*step
	for _, s := range steps {
		s.body = w.unroll(s.body)
		if parts := w.directions(s); parts != nil {
			list = append(list, parts...)
		} else {
			list = append(list, s)
		}
	}
	return list
}

// directions returns the calls of a step by direction; nil: it has none, or is the same on all
// ranks.
func (w *writer) directions(s *step) []*step {
	if s.function == nil || len(s.body) > 0 || s.turns != nil {
		return nil
	}
	peer := s.meaning.In[semantics.Destination]
	if peer < 0 {
		peer = s.meaning.In[semantics.Source]
	}
	if peer < 0 {
		return nil
	}
	var lists [][]int64
	used, repeated := map[int64]int{}, false
	rows := make([][]int32, len(s.ranks)) // vectors of a visit
	for row, b := range s.ranks {
		if b == nil || b.calls.n == 0 {
			continue
		}
		cycle := b.calls.cycle()
		if b.own < 0 || b.trips.list != nil || b.trips.same > maxDirections || !repeatsEachTime(len(cycle), b) {
			return nil
		}
		repeated = repeated || b.trips.same > 1
		var distances []int64
		for k := range int(b.trips.same) {
			id := cycle[k%len(cycle)]
			rows[row] = append(rows[row], id)
			x := scalarIn(nth(false, int(peer))(&s.vectors[id]))
			distance := w.distance(x.number, b)
			if x.name != "" || slices.Contains(distances, distance) {
				return nil
			}
			distances = append(distances, distance)
			used[distance]++
		}
		if lists = append(lists, distances); len(used) > maxDirections {
			return nil
		}
	}
	all := inLine(lists)
	if !repeated || all == nil {
		return nil
	}
	for _, n := range used {
		if n < 2 {
			return nil
		}
	}
	return w.parts(s, all, rows, peer)
}

// distance identifies the direction of a peer: around the edge of a periodic grid it is the same
// direction as elsewhere.
func (w *writer) distance(peer int64, b *behavior) int64 {
	n := int64(len(w.ranks))
	if w.shape.is(gridShape) && b.size == len(w.ranks) && peer >= 0 && peer < n {
		if steps := w.shape.steps(b.own, int(peer)); steps != nil {
			code := int64(0) // of a displacement, beyond all distances
			for _, d := range steps {
				code = 3*code + int64(d) + 1
			}
			return 2*n + code
		}
	}
	return peer - int64(b.own)
}

// parts makes a step of each direction.
func (w *writer) parts(s *step, directions []int64, rows [][]int32, peer int8) []*step {
	var list []*step
	for _, d := range directions {
		one := *s
		number := len(w.steps)
		one.Step = &program.Step{Number: number, Terminal: s.Terminal}
		one.ranks = make([]*behavior, len(s.ranks))
		for row, b := range s.ranks {
			for k, id := range rows[row] {
				if w.distance(scalarIn(nth(false, int(peer))(&s.vectors[id])).number, b) != d {
					continue
				}
				part := &behavior{own: b.own, size: b.size, comm: b.comm}
				part.trips, part.calls = series{n: b.trips.n, same: 1}, series{n: b.trips.n, same: id}
				if k == 0 {
					part.computed = b.computed
				}
				one.ranks[row] = part
			}
		}
		w.steps = append(w.steps, &one)
		list = append(list, &one)
	}
	return list
}

// inLine sorts directions into an order that is consistent with all lists, with ties in order of
// first use (Kahn's topological sorting); nil: there is none.
func inLine(lists [][]int64) []int64 {
	var seen []int64
	// direct successors in a list; number of direct predecessors
	after, before := map[int64][]int64{}, map[int64]int{}
	for _, list := range lists {
		for i, d := range list {
			if !slices.Contains(seen, d) {
				seen = append(seen, d)
			}
			if i > 0 && !slices.Contains(after[list[i-1]], d) {
				after[list[i-1]] = append(after[list[i-1]], d)
				before[d]++
			}
		}
	}
	var line []int64
	for len(line) < len(seen) {
		next := slices.IndexFunc(seen, func(d int64) bool { return before[d] == 0 && !slices.Contains(line, d) })
		if next < 0 {
			return nil
		}
		line = append(line, seen[next])
		for _, d := range after[seen[next]] {
			before[d]--
		}
	}
	return line
}
