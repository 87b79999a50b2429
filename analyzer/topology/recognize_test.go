package topology

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// permuted is the same graph with its vertices numbered at random.
func permuted(g *Graph, seed uint64) *Graph {
	number := rand.New(rand.NewPCG(seed, 1)).Perm(g.Order())
	return NewGraph(g.Order(), func(yield func(u, v int) bool) {
		for u, list := range g.neighbors {
			for _, v := range list {
				if u < int(v) && !yield(number[u], number[v]) {
					return
				}
			}
		}
	})
}

// every pattern with n ranks.
func every(n int) []*Pattern {
	var all []*Pattern
	for _, patterns := range families {
		all = append(all, patterns(n)...)
	}
	return all
}

func names(matches []Match) []string {
	var all []string
	for _, m := range matches {
		all = append(all, m.Pattern.Name)
	}
	return all
}

func TestEveryPatternIsRecognizedInOrderAndPermuted(t *testing.T) {
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for _, n := range []int{2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 24, 27, 31, 32, 36, 60, 64} {
		for _, p := range every(n) {
			g := p.Graph()
			require.Equal(t, p.size, g.Size(), "%s: edges foretold", p.Name)
			matches := Recognize(g, nil)
			require.NotEmpty(t, matches, p.Name)
			require.True(t, matches[0].Natural, p.Name)
			require.Contains(t, names(matches), p.Name)
			for seed := range seeds {
				h := permuted(g, seed)
				again := Recognize(h, nil)
				require.Contains(t, names(again), p.Name, "%s, permuted", p.Name)
				for _, m := range again {
					require.True(t, maps(h, m.Pattern.Graph(), m.Vertex), p.Name)
				}
			}
		}
	}
}

func TestPatternsAreWhatTheyAreCalled(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int
		edges [][2]int
	}{
		{"pair", 2, [][2]int{{0, 1}}},
		{"ring of 5", 5, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}},
		{"2 x 2 grid", 4, [][2]int{{0, 1}, {2, 3}, {0, 2}, {1, 3}}},
		{"2 x 3 grid", 6, [][2]int{{0, 1}, {1, 2}, {3, 4}, {4, 5}, {0, 3}, {1, 4}, {2, 5}}},
		{"binary tree of 6", 6, [][2]int{{0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 5}}},
		{"binomial tree of 8", 8, [][2]int{{0, 1}, {0, 2}, {0, 4}, {2, 3}, {4, 5}, {4, 6}, {6, 7}}},
		{"master-worker, 4 workers", 5, [][2]int{{0, 1}, {0, 2}, {0, 3}, {0, 4}}},
		{"hypercube of dimension 3", 8, [][2]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}}},
		{"all-to-all of 4", 4, [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}},
		// NPB CG at 8 ranks: 2 rows of 4 columns; sums over distances 1 and 2, transposed
		// partners 2 <-> 4, 3 <-> 5 (cg.f); Table 7 of the paper has it as a grid, too
		{"4 x 2 grid", 8, [][2]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6}, {5, 7}, {2, 4}, {3, 5}}},
	} {
		g := NewGraph(c.n, func(yield func(int, int) bool) {
			for _, e := range c.edges {
				yield(e[0], e[1])
			}
		})
		matches := Recognize(g, nil)
		require.NotEmpty(t, matches, c.name)
		assert.Equal(t, c.name, matches[0].Pattern.Name)
	}
}

// The logicalization paper's Table 7: what was found for the NAS benchmarks, and what else the
// same graphs are.
func TestTopologiesThatAreOneGraph(t *testing.T) {
	for _, c := range []struct {
		n          int
		dimensions []int
		family     Family
		same       []string
	}{
		{16, []int{2, 2, 2, 2}, Hypercube, []string{"4 x 2 x 2 torus", "4 x 4 torus"}},
		{32, []int{2, 2, 2, 2, 2}, Hypercube, []string{"4 x 2 x 2 x 2 torus", "4 x 4 x 2 torus"}},
		{64, []int{2, 2, 2, 2, 2, 2}, Hypercube, []string{"4 x 4 x 4 torus"}},
	} {
		p := latticePattern(lattice{c.dimensions, make([]bool, len(c.dimensions)), straight(len(c.dimensions))}, c.family)
		found := names(Recognize(permuted(p.Graph(), 7), nil))
		for _, name := range c.same {
			assert.Contains(t, found, name)
		}
	}
	// and BT and SP at 64: a 6-point stencil is no grid
	six := latticePattern(lattice{[]int{8, 8}, []bool{true, true}, sixPoint()}, SixPoint)
	assert.Equal(t, []string{"8 x 8 6-point stencil, periodic"}, names(Recognize(six.Graph(), nil)))
}

func TestWhatIsNoPatternIsNotRecognized(t *testing.T) {
	torus := latticePattern(lattice{[]int{8, 8}, []bool{true, true}, straight(2)}, Torus).Graph()
	t.Run("torus with two edges swapped", func(t *testing.T) {
		for seed := range uint64(20) {
			assert.Empty(t, names(Recognize(permuted(swapped(torus, seed), seed), nil)), "seed %d", seed)
		}
	})
	t.Run("random graphs of equal degree", func(t *testing.T) {
		for seed := range uint64(20) {
			g := torus
			for i := range uint64(500) {
				g = swapped(g, seed*1000+i)
			}
			if len(g.components()) == 1 {
				assert.Empty(t, names(Recognize(g, nil)), "seed %d", seed)
			}
		}
	})
	t.Run("the rook's graph is not the stencil of equal spectrum", func(t *testing.T) {
		rook := rowsColumns(16)
		i := slices.IndexFunc(rook, func(p *Pattern) bool { return p.Name == "4 x 4 rows and columns all-to-all" })
		stencil := latticePattern(lattice{[]int{4, 4}, []bool{true, true}, sixPoint()}, SixPoint)
		require.Equal(t, stencil.Graph().Size(), rook[i].Graph().Size())
		assert.Equal(t, []string{"4 x 4 rows and columns all-to-all"}, names(Recognize(permuted(rook[i].Graph(), 3), nil)))
		assert.Equal(t, []string{"4 x 4 6-point stencil, periodic"}, names(Recognize(permuted(stencil.Graph(), 3), nil)))
	})
}

// swapped takes two edges a–b, c–d with four different ends and makes them a–d, c–b,
// if both are new.
func swapped(g *Graph, seed uint64) *Graph {
	random := rand.New(rand.NewPCG(seed, 2))
	for {
		a, c := random.IntN(g.Order()), random.IntN(g.Order())
		b, d := int(g.neighbors[a][random.IntN(len(g.neighbors[a]))]), int(g.neighbors[c][random.IntN(len(g.neighbors[c]))])
		if a == c || a == d || b == c || b == d || g.Adjacent(a, d) || g.Adjacent(c, b) {
			continue
		}
		return NewGraph(g.Order(), func(yield func(u, v int) bool) {
			for u, list := range g.neighbors {
				for _, v := range list {
					if e := [2]int{u, int(v)}; u < int(v) && e != [2]int{min(a, b), max(a, b)} && e != [2]int{min(c, d), max(c, d)} {
						yield(u, int(v))
					}
				}
			}
			yield(a, d)
			yield(c, b)
		})
	}
}

func BenchmarkRecognize(b *testing.B) {
	for _, n := range []int{529, 1024, 4096} {
		for _, p := range every(n) {
			if len(p.Dimensions) > 3 && p.Family != Hypercube || p.Family == Masters || p.Family == Neighborhood && p.size > 3*n || p.Family == Tree && p.size > 0 && p.Name[0] > '3' && p.Name[0] != 'b' {
				continue // enough of their kind
			}
			g := permuted(p.Graph(), 1)
			b.Run(fmt.Sprintf("%d/%s", n, p.Name), func(b *testing.B) {
				for range b.N {
					if len(Recognize(g, nil)) == 0 {
						b.Fatal("not recognized")
					}
				}
			})
		}
	}
}
