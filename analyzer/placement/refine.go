package placement

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A search searches partitions of a graph into nodes of given sizes.
type search struct {
	graph graph
	room  []int // ranks of each node
	work  int   // edges visited so far
	limit int   // limit of work

	sides  [2]side
	gain   []int64 // by rank: reduction of the cut if it moves to the other side
	locked []bool  // by rank: it has moved in this pass

	round int     // number of the present growth or traversal
	seen  []int   // by rank: latest round that reached it
	came  []int64 // by rank: when growth reached it
}

func newSearch(g graph, now []int, nodes int) *search {
	s := &search{
		graph: g, room: make([]int, nodes), gain: make([]int64, len(g)), locked: make([]bool, len(g)),
		seen: make([]int, len(g)), came: make([]int64, len(g)),
	}
	for _, n := range now {
		s.room[n]++
	}
	return s
}

// fill assigns ranks in a given order to one node after the other.
func (s *search) fill(order []int) []int {
	at := make([]int, len(s.graph))
	next := 0
	for n, room := range s.room {
		for range room {
			at[order[next]] = n
			next++
		}
	}
	return at
}

// maxRounds bounds the rounds over all pairs of nodes: most graphs need three or four.
const maxRounds = 20

// refine exchanges ranks between pairs of nodes that communicate, as long as that reduces the cut.
// Pairs of unchanged nodes are skipped, so that the work is about that of one round.
func (s *search) refine(at []int) {
	members := make([][]int, len(s.room))
	for rank, n := range at {
		members[n] = append(members[n], rank)
	}
	changed := make([]bool, len(s.room))
	for n := range changed {
		changed[n] = true
	}
	for range maxRounds {
		var pairs [][2]int
		seen := map[[2]int]bool{}
		for rank, edges := range s.graph {
			for _, e := range edges {
				a, b := min(at[rank], at[e.to]), max(at[rank], at[e.to])
				if pair := [2]int{a, b}; a != b && (changed[a] || changed[b]) && !seen[pair] {
					seen[pair] = true
					pairs = append(pairs, pair)
				}
			}
		}
		s.work += s.graph.size()
		clear(changed)
		better := false
		for _, pair := range pairs {
			a, b := pair[0], pair[1]
			if s.work > s.limit {
				return
			}
			if s.exchange(at, members[a], members[b]) {
				better, changed[a], changed[b] = true, true, true
			}
		}
		if !better {
			return
		}
	}
}

// maxFruitless bounds the consecutive exchanges that do not reduce the cut, before a pass returns
// to its best state.
const maxFruitless = 64

// A side is one of two nodes, or groups of nodes, that exchange ranks.
type side struct {
	label int // label of its ranks in at
	ranks []int
	queue queue
}

// exchange improves two nodes, or groups of nodes, by exchanging ranks, and reports whether it did.
// In a pass each rank moves at most once; in turns, the rank of either side with the largest gain,
// which may be negative, moves. Moves after the smallest cut are undone (Kernighan and Lin; gains
// are updated as by Fiduccia and Mattheyses).
func (s *search) exchange(at []int, one, other []int) bool {
	if len(one) == 0 || len(other) == 0 {
		return false
	}
	s.sides[0].label, s.sides[0].ranks = at[one[0]], one
	s.sides[1].label, s.sides[1].ranks = at[other[0]], other
	improved := false
	for s.pass(at) {
		improved = true
		for k := range s.sides {
			s.sides[k].ranks = s.sides[k].ranks[:0]
		}
		for _, rank := range slices.Concat(one, other) {
			into := &s.sides[0]
			if at[rank] != into.label {
				into = &s.sides[1]
			}
			into.ranks = append(into.ranks, rank)
		}
	}
	return improved
}

// pass makes exchanges, keeps those up to the smallest cut, and reports whether that is smaller
// than before.
func (s *search) pass(at []int) bool {
	for k := range s.sides {
		s.gains(at, &s.sides[k], s.sides[1-k].label)
	}
	var moved []int
	sum, most, kept := int64(0), int64(0), 0
	for len(moved)-kept < 2*maxFruitless {
		first := 0
		if s.top(&s.sides[1]) > s.top(&s.sides[0]) {
			first = 1
		}
		a, b := s.take(&s.sides[first]), -1
		if a >= 0 {
			sum += s.move(at, a, first)
			b = s.take(&s.sides[1-first])
		}
		if b < 0 {
			if a >= 0 {
				at[a] = s.sides[first].label
			}
			break
		}
		sum += s.move(at, b, 1-first)
		moved = append(moved, a, b)
		if sum > most {
			most, kept = sum, len(moved)
		}
	}
	for _, rank := range moved[kept:] {
		at[rank] = s.sides[0].label + s.sides[1].label - at[rank]
	}
	return most > 0
}

// gains computes the reduction of the cut for each rank of a side if it moves to the other.
func (s *search) gains(at []int, of *side, other int) {
	of.queue = of.queue[:0]
	for _, rank := range of.ranks {
		gain := int64(0)
		for _, e := range s.graph[rank] {
			switch at[e.to] {
			case of.label:
				gain -= e.weight
			case other:
				gain += e.weight
			}
		}
		s.work += 1 + len(s.graph[rank])
		s.gain[rank], s.locked[rank] = gain, false
		of.queue = append(of.queue, entry{gain, 0, rank})
	}
	of.queue.order()
}

// move moves a rank to the other side for the rest of the pass, updates the gains of its neighbors,
// and returns its gain.
func (s *search) move(at []int, rank, from int) int64 {
	at[rank], s.locked[rank] = s.sides[1-from].label, true
	for _, e := range s.graph[rank] {
		for k := range s.sides {
			if at[e.to] != s.sides[k].label || s.locked[e.to] {
				continue
			}
			if k == from {
				s.gain[e.to] += 2 * e.weight
			} else {
				s.gain[e.to] -= 2 * e.weight
			}
			s.sides[k].queue.push(entry{s.gain[e.to], 0, e.to})
		}
	}
	s.work += len(s.graph[rank])
	return s.gain[rank]
}

// top returns the largest gain of a side's ranks, MinInt64 if none is left.
func (s *search) top(of *side) int64 {
	for len(of.queue) > 0 {
		if first := of.queue[0]; !s.locked[first.rank] && s.gain[first.rank] == first.key {
			return first.key
		}
		of.queue.pop() // outdated: another entry has the current gain
	}
	return math.MinInt64
}

// take removes and returns the rank with the largest gain, −1 if none is left.
func (s *search) take(of *side) int {
	if s.top(of) == math.MinInt64 {
		return -1
	}
	return of.queue.pop().rank
}

// perturb improves a partition of a small graph: repeatedly some random ranks are exchanged and the
// result is improved; worse results are discarded. The random numbers are the same in every run.
func (s *search) perturb(best []int, least *int64) {
	if len(s.room) < 2 || *least == 0 || s.graph.size() > maxPerturbed {
		return
	}
	random := rand.New(rand.NewPCG(1, 2))
	at := make([]int, len(best))
	for s.limit = min(s.work+perturbWork, s.limit); s.work < s.limit && *least > 0; {
		copy(at, best)
		times := 1 + random.IntN(max(2, len(at)/3))
		if random.IntN(4) == 0 {
			times = len(at)
		}
		for range times {
			a, b := random.IntN(len(at)), random.IntN(len(at))
			at[a], at[b] = at[b], at[a]
		}
		s.work += len(at)
		s.refine(at)
		if cut := s.graph.cut(at); cut <= *least {
			copy(best, at)
			*least = cut
		}
	}
}
