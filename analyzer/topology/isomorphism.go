package topology

import "slices"

// isomorphism finds a mapping from the vertices of a to those of b that maps edges to edges and
// nothing else, or reports that there is none. `transitive` means that b has an automorphism from
// every vertex to every other, so that a failed first choice is a proof.
//
// The method is individualization and refinement (McKay and Piperno, "Practical graph isomorphism,
// II", J. Symbolic Computation 60, 2014), on both graphs at once: map one vertex to another,
// refine, continue; on a contradiction undo the choice and try the next one. The patterns of this
// package need about one choice per dimension. The paper's VF2 extends a mapping vertex by vertex
// without refinement, which is why an unordered stencil of 529 vertices took it 4,000 s. The result
// has been checked edge by edge, so it proves the match.
//
// `budget` is the maximum number of choices; decided is false if it was exceeded.
func isomorphism(a, b *Graph, transitive bool, budget int) (mapping []int32, decided bool) {
	if a.Order() != b.Order() || a.Size() != b.Size() {
		return nil, true
	}
	if a.Order() == 0 {
		return []int32{}, true
	}
	s := search{partition: newPartition(a, b), transitive: transitive, budget: budget}
	s.enqueue(0)
	if !s.refine() {
		return nil, true
	}
	if s.interchangeable() {
		return s.mapping(), true
	}
	mapping = s.extend()
	return mapping, mapping != nil || s.budget > 0
}

type search struct {
	*partition
	transitive bool
	budget     int
}

// extend makes choices until every cell has one vertex of each graph.
func (s *search) extend() []int32 {
	c, found := s.choice()
	if !found {
		return s.mapping()
	}
	var ours, theirs []int32
	for _, v := range s.members(c) {
		if int(v) < s.n {
			ours = append(ours, v)
		} else {
			theirs = append(theirs, v)
		}
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	if s.transitive && len(ours) == s.n {
		ours = ours[:1]
	}
	to := theirs[0]
	before := len(s.trail)
	for _, from := range ours {
		if s.budget--; s.budget <= 0 {
			return nil
		}
		if s.individualize(from, to) {
			if m := s.extend(); m != nil {
				return m
			}
		}
		s.undo(before)
	}
	return nil
}

// choice returns the smallest cell with more than one vertex of each graph: the fewest ways to
// fail.
func (s *search) choice() (int32, bool) {
	best, found := int32(0), false
	for c, n := range s.length {
		if n > 2 && (!found || n < s.length[best]) {
			best, found = int32(c), true
			if n == 4 {
				break
			}
		}
	}
	return best, found
}

// interchangeable reports whether any mapping within the cells is an isomorphism, because there are
// either all edges or none between two cells and within each. It decides all-to-all and
// master-worker, whose ranks are all alike, in one step.
func (s *search) interchangeable() bool {
	for v := range s.n {
		list := s.a.neighbors[v]
		seen := map[int32]int32{}
		for _, w := range list {
			seen[s.cell[w]]++
		}
		for c, n := range seen {
			all := s.length[c] / 2
			if c == s.cell[v] {
				all--
			}
			if n != all {
				return false
			}
		}
	}
	return true
}

// mapping pairs the vertices cell by cell and returns the pairs if they are an isomorphism.
func (s *search) mapping() []int32 {
	to := make([]int32, s.n)
	for c := range s.start {
		var ours, theirs []int32
		for _, v := range s.members(int32(c)) {
			if int(v) < s.n {
				ours = append(ours, v)
			} else {
				theirs = append(theirs, v-int32(s.n))
			}
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		for i, v := range ours {
			to[v] = theirs[i]
		}
	}
	if !maps(s.a, s.b, to) {
		return nil
	}
	return to
}

// maps reports whether `to` is an isomorphism from a to b. The caller checks that they have equally
// many edges.
func maps(a, b *Graph, to []int32) bool {
	taken := make([]bool, b.Order())
	for _, v := range to {
		if taken[v] {
			return false
		}
		taken[v] = true
	}
	for v := range a.neighbors {
		for _, w := range a.neighbors[v] {
			if int32(v) < w && !b.Adjacent(int(to[v]), int(to[w])) {
				return false
			}
		}
	}
	return true
}
