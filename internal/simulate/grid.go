package simulate

import (
	"fmt"
	"slices"
)

// A grid numbers ranks in row-major order, as MPI_Cart_create does: the last coordinate
// changes fastest.
type grid struct {
	extent   []int
	periodic bool
}

// newGrid returns the configured grid, or divides the ranks evenly.
func newGrid(c *Config, dimensions int) (grid, error) {
	g := grid{extent: c.Grid, periodic: c.Periodic}
	if len(g.extent) == 0 {
		g.extent = divide(c.Ranks, dimensions)
	}
	n := 1
	for _, e := range g.extent {
		n *= e
	}
	if len(g.extent) != dimensions || n != c.Ranks || slices.Min(g.extent) < 1 {
		return g, fmt.Errorf("simulate: grid %v: %s needs %d dimensions whose product is %d", g.extent, c.Pattern, dimensions, c.Ranks)
	}
	return g, nil
}

// divide splits n into factors as equal as possible, the largest first (MPI_Dims_create).
func divide(n, dimensions int) []int {
	extent := make([]int, dimensions)
	for i := range extent {
		left := dimensions - i
		best := 1
		for f := 1; pow(f, left) <= n; f++ {
			if n%f == 0 {
				best = f
			}
		}
		if left == 1 {
			best = n
		}
		extent[dimensions-1-i] = best
		n /= best
	}
	slices.SortFunc(extent, func(a, b int) int { return b - a })
	return extent
}

func pow(x, n int) int {
	p := 1
	for range n {
		p *= x
	}
	return p
}

func (g grid) coordinates(rank int) []int {
	at := make([]int, len(g.extent))
	for i := len(at) - 1; i >= 0; i-- {
		at[i] = rank % g.extent[i]
		rank /= g.extent[i]
	}
	return at
}

// neighbor returns the rank at an offset, or −1 beyond the end of a grid that is not periodic.
func (g grid) neighbor(at, offset []int) int {
	rank := 0
	for i, x := range at {
		x += offset[i]
		if g.periodic {
			x = (x + g.extent[i]) % g.extent[i]
		}
		if x < 0 || x >= g.extent[i] {
			return -1
		}
		rank = rank*g.extent[i] + x
	}
	return rank
}

// star returns the offsets along the axes, cube all offsets of at most one per dimension. Zero is
// not included. Opposites are in pairs: offsets k and k^1.
func star(dimensions int) [][]int {
	var offsets [][]int
	for i := range dimensions {
		for _, d := range []int{-1, 1} {
			o := make([]int, dimensions)
			o[i] = d
			offsets = append(offsets, o)
		}
	}
	return offsets
}

func cube(dimensions int) [][]int {
	n := pow(3, dimensions)
	var offsets [][]int
	for k := range n / 2 {
		o, opposite := make([]int, dimensions), make([]int, dimensions)
		for i, rest := dimensions-1, k; i >= 0; i-- {
			o[i] = rest%3 - 1
			opposite[i] = -o[i]
			rest /= 3
		}
		offsets = append(offsets, o, opposite)
	}
	return offsets
}
