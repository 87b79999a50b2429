package placement

import (
	"cmp"
	"slices"
)

// A graph has, for each rank, the others that it exchanges messages with.
type graph [][]edge

// An edge's weight is bytes, plus a little for each message: where no datatype says how large messages are, they still
// count.
type edge struct {
	to     int
	weight uint64
}

// cut is the weight of the edges between nodes.
func (g graph) cut(node []int) uint64 {
	sum := uint64(0)
	for rank, edges := range g {
		for _, e := range edges {
			if rank < e.to && node[rank] != node[e.to] {
				sum += e.weight
			}
		}
	}
	return sum
}

// best is a partition into nodes of the same sizes with a small cut, never one larger than that of node.
func (g graph) best(node []int, nodes int) []int {
	improved := slices.Clone(node)
	g.exchange(improved, nodes)
	grown := g.grow(node, nodes)
	g.exchange(grown, nodes)
	if g.cut(grown) < g.cut(improved) {
		return grown
	}
	return improved
}

// grow fills one node after the other: the first rank that is left, then always the one that is tied most to those that
// are in the node already.
func (g graph) grow(node []int, nodes int) []int {
	room := make([]int, nodes)
	for _, n := range node {
		room[n]++
	}
	at := make([]int, len(g))
	for rank := range at {
		at[rank] = -1
	}
	next := 0
	for n := range nodes {
		ties := map[int]uint64{}
		for range room[n] {
			chosen := -1
			for rank, tie := range ties {
				if chosen < 0 || tie > ties[chosen] || tie == ties[chosen] && rank < chosen {
					chosen = rank
				}
			}
			for chosen < 0 {
				if at[next] < 0 {
					chosen = next
				}
				next++
			}
			at[chosen] = n
			delete(ties, chosen)
			for _, e := range g[chosen] {
				if at[e.to] < 0 {
					ties[e.to] += e.weight
				}
			}
		}
	}
	return at
}

// rounds bounds the passes of exchanges: most graphs need three or four.
const rounds = 20

// exchange swaps pairs of ranks of different nodes while that lessens the cut.
func (g graph) exchange(at []int, nodes int) {
	members := make([][]int, nodes)
	for rank, n := range at {
		members[n] = append(members[n], rank)
	}
	ties := func(rank int) map[int]int64 { // to each node
		sum := map[int]int64{}
		for _, e := range g[rank] {
			sum[at[e.to]] += int64(e.weight)
		}
		return sum
	}
	for range rounds {
		swapped := false
		for rank := range g {
			own := ties(rank)
			home := at[rank]
			type move struct {
				node int
				gain int64
			}
			var moves []move
			for n, tie := range own {
				if gain := tie - own[home]; n != home && gain > 0 {
					moves = append(moves, move{n, gain})
				}
			}
			slices.SortFunc(moves, func(a, b move) int { return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.node, b.node)) })
			for _, m := range moves {
				partner, most := -1, int64(0)
				for k, other := range members[m.node] {
					gain := m.gain
					for _, e := range g[other] {
						switch at[e.to] {
						case home:
							gain += int64(e.weight)
						case m.node:
							gain -= int64(e.weight)
						}
					}
					for _, e := range g[rank] {
						if e.to == other {
							gain -= 2 * int64(e.weight)
						}
					}
					if gain > most {
						partner, most = k, gain
					}
				}
				if partner < 0 {
					continue
				}
				other := members[m.node][partner]
				members[m.node][partner] = rank
				members[home][slices.Index(members[home], rank)] = other
				at[rank], at[other] = m.node, home
				swapped = true
				break
			}
		}
		if !swapped {
			return
		}
	}
}
