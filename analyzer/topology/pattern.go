package topology

import (
	"fmt"
	"slices"
	"strings"
)

// A Family is a kind of pattern, of any size.
type Family string

// The families. A grid's edges lead to the next vertex in each dimension, a torus's also around; a
// dimension of size 2 is the same in both.
const (
	Line          Family = "line"
	Ring          Family = "ring"
	Grid          Family = "grid"
	Torus         Family = "torus"
	Cylinder      Family = "cylinder" // periodic in only some dimensions
	Hypercube     Family = "hypercube"
	SixPoint      Family = "6-point stencil"  // a 2-D grid or torus with one of its two diagonals (NPB BT, SP)
	NinePoint     Family = "9-point stencil"  // a 2-D grid or torus with both (the paper's 8-point stencil)
	Nineteen      Family = "19-point stencil" // a 3-D one with the diagonals of its planes (lattice Boltzmann, D3Q19)
	TwentySeven   Family = "27-point stencil" // a 3-D one with all diagonals
	RowsColumns   Family = "rows and columns all-to-all"
	AllToAll      Family = "all-to-all"
	MasterWorker  Family = "master-worker"
	Masters       Family = "masters and workers" // several masters, each with all workers
	Tree          Family = "tree"                // complete, with k children each, numbered level by level
	BinomialTree  Family = "binomial tree"
	Butterfly     Family = "butterfly network" // rows and levels of an FFT's data flow
	CG            Family = "NAS CG stencil"
	Neighborhood  Family = "ring with distances up to k"
	Dissemination Family = "dissemination" // distances 1, 2, 4, … in a ring
	UserDefined   Family = "user-defined"
)

// A Pattern is a reference graph: a family with sizes.
type Pattern struct {
	Family     Family
	Name       string // with sizes, in the usual form: "4 x 8 torus"
	Dimensions []int  // of lattices, slowest first; nil for others
	Periodic   []bool // by dimension
	Order      int    // ranks

	// size is the number of edges, for a cheap first test.
	size int
	// transitive: there is an automorphism from every vertex to every other.
	transitive bool
	// neighbors yields those of a vertex with the direction of each; each edge appears from both
	// sides.
	neighbors func(v int, yield func(w int, direction string))
	// coordinates of a vertex; nil: its number is the only one
	coordinates func(v int) []int
	// turned returns the pattern itself and the same with its dimensions in other orders; nil:
	// there is only one
	turned func() []*Pattern
}

// Graph returns the pattern's graph.
func (p *Pattern) Graph() *Graph {
	return NewGraph(p.Order, func(yield func(u, v int) bool) {
		for v := range p.Order {
			p.neighbors(v, func(w int, _ string) {
				if v < w {
					yield(v, w)
				}
			})
		}
	})
}

// Direction returns the direction of w as seen from v in the pattern ("+x", "parent", "child 1",
// "worker"); empty: they are not neighbors.
func (p *Pattern) Direction(v, w int) string {
	found := ""
	p.neighbors(v, func(u int, direction string) {
		if u == w && found == "" {
			found = direction
		}
	})
	return found
}

// Directions returns the neighbors of a vertex by direction.
func (p *Pattern) Directions(v int) map[string]int {
	all := map[string]int{}
	p.neighbors(v, func(w int, direction string) {
		if _, there := all[direction]; !there {
			all[direction] = w
		}
	})
	return all
}

// Coordinates returns the coordinates of a vertex: per dimension for lattices, level and index for
// trees, else its number.
func (p *Pattern) Coordinates(v int) []int {
	if p.coordinates == nil {
		return []int{v}
	}
	return p.coordinates(v)
}

// sizes formats dimensions as "4 x 8".
func sizes(dimensions []int) string {
	words := make([]string, len(dimensions))
	for i, d := range dimensions {
		words[i] = fmt.Sprint(d)
	}
	return strings.Join(words, " x ")
}

// factorisations returns the ways to write n as a product of at most `limit` factors of at least 2,
// each way with its factors largest first; the ways with fewer factors first.
func factorisations(n, limit int) [][]int {
	var all [][]int
	var down func(rest, largest int, so []int)
	down = func(rest, largest int, so []int) {
		if rest == 1 {
			all = append(all, slices.Clone(so))
			return
		}
		if len(so) == limit {
			return
		}
		for f := min(rest, largest); f >= 2; f-- {
			if rest%f == 0 {
				down(rest/f, f, append(so, f))
			}
		}
	}
	if n >= 2 {
		down(n, n, nil)
	}
	slices.SortStableFunc(all, func(a, b []int) int { return len(a) - len(b) })
	return all
}
