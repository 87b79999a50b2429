package topology

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Velocities of lattice Boltzmann models as the literature lists them (Qian, d'Humières and
// Lallemand, Europhysics Letters 17, 1992), the resting one left out: x, y, z.
var (
	d2q9 = [][3]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}, {1, -1}, {-1, 1}}

	d3q19 = [][3]int{
		{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1},
		{1, 1, 0}, {-1, -1, 0}, {1, -1, 0}, {-1, 1, 0},
		{1, 0, 1}, {-1, 0, -1}, {1, 0, -1}, {-1, 0, 1},
		{0, 1, 1}, {0, -1, -1}, {0, 1, -1}, {0, -1, 1},
	}

	d3q27 = append([][3]int{
		{1, 1, 1}, {-1, -1, -1}, {1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {-1, 1, -1}, {-1, 1, 1}, {1, -1, -1},
	}, d3q19...)
)

// boltzmann is who streams to whom on blocks of a box, x fastest, z slowest.
func boltzmann(velocities [][3]int, sizes [3]int, periodic [3]bool) *Graph {
	number := func(x, y, z int) int { return (z*sizes[1]+y)*sizes[0] + x }
	return NewGraph(sizes[0]*sizes[1]*sizes[2], func(yield func(int, int) bool) {
		for z := range sizes[2] {
			for y := range sizes[1] {
				for x := range sizes[0] {
					for _, c := range velocities {
						to := [3]int{x + c[0], y + c[1], z + c[2]}
						outside := false
						for i := range to {
							if periodic[i] {
								to[i] = (to[i] + sizes[i]) % sizes[i]
							}
							outside = outside || to[i] < 0 || to[i] >= sizes[i]
						}
						if outside || number(x, y, z) == number(to[0], to[1], to[2]) {
							continue
						}
						if !yield(number(x, y, z), number(to[0], to[1], to[2])) {
							return
						}
					}
				}
			}
		}
	})
}

func TestLatticeBoltzmannStencils(t *testing.T) {
	for _, c := range []struct {
		name       string
		velocities [][3]int
		sizes      [3]int
		periodic   [3]bool
	}{
		{"4 x 5 9-point stencil", d2q9, [3]int{5, 4, 1}, [3]bool{}},
		{"4 x 5 9-point stencil, periodic", d2q9, [3]int{5, 4, 1}, [3]bool{true, true, false}},
		{"4 x 8 9-point stencil, periodic in 8", d2q9, [3]int{8, 4, 1}, [3]bool{true, false, false}},
		{"3 x 3 x 3 19-point stencil", d3q19, [3]int{3, 3, 3}, [3]bool{}},
		{"3 x 3 x 3 19-point stencil, periodic", d3q19, [3]int{3, 3, 3}, [3]bool{true, true, true}},
		{"2 x 3 x 4 19-point stencil", d3q19, [3]int{4, 3, 2}, [3]bool{}},
		{"2 x 3 x 4 19-point stencil, periodic", d3q19, [3]int{4, 3, 2}, [3]bool{true, true, true}},
		{"3 x 4 x 5 19-point stencil", d3q19, [3]int{5, 4, 3}, [3]bool{}},
		{"3 x 4 x 5 19-point stencil, periodic", d3q19, [3]int{5, 4, 3}, [3]bool{true, true, true}},
		// a channel: periodic along the flow and across, walls above and below
		{"4 x 4 x 4 19-point stencil, periodic in 4 and 4", d3q19, [3]int{4, 4, 4}, [3]bool{true, true, false}},
		{"3 x 4 x 6 19-point stencil, periodic in 6", d3q19, [3]int{6, 4, 3}, [3]bool{true, false, false}},
		{"2 x 2 x 8 19-point stencil", d3q19, [3]int{8, 2, 2}, [3]bool{}},
		{"8 x 8 x 8 19-point stencil, periodic", d3q19, [3]int{8, 8, 8}, [3]bool{true, true, true}},
		{"3 x 4 x 5 27-point stencil", d3q27, [3]int{5, 4, 3}, [3]bool{}},
		{"3 x 4 x 5 27-point stencil, periodic", d3q27, [3]int{5, 4, 3}, [3]bool{true, true, true}},
		{"3 x 4 x 5 27-point stencil, periodic in 5", d3q27, [3]int{5, 4, 3}, [3]bool{true, false, false}},
		{"2 x 4 x 5 27-point stencil, periodic", d3q27, [3]int{5, 4, 2}, [3]bool{true, true, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := boltzmann(c.velocities, c.sizes, c.periodic)
			found := Recognize(g, nil)
			require.NotEmpty(t, found)
			assert.Equal(t, c.name, found[0].Pattern.Name)
			assert.True(t, found[0].Natural)
			family := found[0].Pattern.Family
			for seed := range uint64(3) {
				h := permuted(g, seed)
				again := Recognize(h, nil)
				require.NotEmpty(t, again)
				assert.Equal(t, family, again[0].Pattern.Family)
				assert.True(t, maps(h, again[0].Pattern.Graph(), again[0].Vertex))
			}
		})
	}
}

// What has a stencil's degrees is no stencil yet: two edges exchanged, or the diagonals
// of one plane only.
func TestWhatIsNoBoltzmannStencil(t *testing.T) {
	for _, periodic := range [][3]bool{{}, {true, true, true}, {true, false, false}} {
		g := boltzmann(d3q19, [3]int{5, 4, 3}, periodic)
		for seed := range uint64(8) {
			assert.Empty(t, names(Recognize(permuted(swapped(g, seed), seed), nil)), "%v, seed %d", periodic, seed)
		}
	}
	flat := boltzmann(d3q19[:14], [3]int{5, 4, 3}, [3]bool{true, true, true})
	assert.Empty(t, names(Recognize(permuted(flat, 1), nil)))
}

func TestDirectionsOfNineteenPoints(t *testing.T) {
	g := boltzmann(d3q19, [3]int{5, 4, 3}, [3]bool{true, true, true})
	random := rand.New(rand.NewPCG(3, 3))
	found := Recognize(g, nil)
	p := found[0].Pattern
	for range 50 {
		x, y, z := random.IntN(5), random.IntN(4), random.IntN(3)
		from := (z*4+y)*5 + x
		assert.Len(t, p.Directions(from), 18)
		assert.Equal(t, "+x", p.Direction(from, (z*4+y)*5+(x+1)%5))
		assert.Equal(t, "-y", p.Direction(from, (z*4+(y+3)%4)*5+x))
		assert.Equal(t, "+x-z", p.Direction(from, ((z+2)%3*4+y)*5+(x+1)%5))
		assert.Empty(t, p.Direction(from, ((z+1)%3*4+(y+1)%4)*5+(x+1)%5), "a corner")
	}
}
