package topology

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A lattice is a grid whose vertices communicate at fixed offsets.
type lattice struct {
	dimensions []int
	periodic   []bool
	offsets    [][]int // one of each pair of opposite ones
}

func (l lattice) order() int {
	n := 1
	for _, d := range l.dimensions {
		n *= d
	}
	return n
}

// size counts edges without creating them; it is exact for offsets of −1, 0 and 1 with periodic
// dimensions of at least 3.
func (l lattice) size() int {
	edges := 0
	for _, offset := range l.offsets {
		n := 1
		for i, d := range l.dimensions {
			if !l.periodic[i] {
				d -= max(offset[i], -offset[i])
			}
			n *= max(d, 0)
		}
		edges += n
	}
	return edges
}

// coordinates of a vertex, the last dimension fastest.
func (l lattice) coordinates(v int) []int {
	c := make([]int, len(l.dimensions))
	for i := len(c) - 1; i >= 0; i-- {
		c[i] = v % l.dimensions[i]
		v /= l.dimensions[i]
	}
	return c
}

// neighbors returns the neighbors of a vertex. The names of directions are shared: a lattice may
// have millions of edges.
func (l lattice) neighbors() func(v int, yield func(w int, direction string)) {
	directions := sync.OnceValue(func() [][2]string {
		words := make([][2]string, len(l.offsets))
		for i, offset := range l.offsets {
			words[i] = [2]string{direction(offset, 1), direction(offset, -1)}
		}
		return words
	})
	return func(v int, yield func(w int, direction string)) {
		at, words := l.coordinates(v), directions()
		for i, offset := range l.offsets {
			for k, sign := range [...]int{1, -1} {
				if w, inside := l.at(at, offset, sign); inside && w != v {
					yield(w, words[i][k])
				}
			}
		}
	}
}

func (l lattice) at(from, offset []int, sign int) (int, bool) {
	w := 0
	for i, d := range l.dimensions {
		x := from[i] + sign*offset[i]
		if l.periodic[i] {
			x = ((x % d) + d) % d
		} else if x < 0 || x >= d {
			return 0, false
		}
		w = w*d + x
	}
	return w, true
}

// axes are the names of dimensions from the fastest: as in drawings, x runs along a row.
var axes = []string{"x", "y", "z"}

func direction(offset []int, sign int) string {
	var words []string
	for i := len(offset) - 1; i >= 0; i-- {
		step := sign * offset[i]
		if step == 0 {
			continue
		}
		axis := fmt.Sprintf("d%d", len(offset)-1-i)
		if len(offset) <= len(axes) {
			axis = axes[len(offset)-1-i]
		}
		word := fmt.Sprintf("%+d%s", step, axis)
		if step == 1 || step == -1 {
			word = word[:1] + axis
		}
		words = append(words, word)
	}
	return strings.Join(words, "")
}

// Offsets of the stencils.

// straight ones: one step in one dimension.
func straight(d int) [][]int {
	offsets := make([][]int, d)
	for i := range offsets {
		offsets[i] = make([]int, d)
		offsets[i][i] = 1
	}
	return offsets
}

// sixPoint returns the two straight ones and one diagonal of a plane.
func sixPoint() [][]int { return append(straight(2), []int{1, 1}) }

// surrounding returns all offsets with steps of at most one, of each pair the one whose first step
// is positive.
func surrounding(d int) [][]int {
	var all [][]int
	total := 1
	for range d {
		total *= 3
	}
	for code := total/2 + 1; code < total; code++ {
		offset, c := make([]int, d), code
		for i := d - 1; i >= 0; i-- {
			offset[i] = c%3 - 1
			c /= 3
		}
		all = append(all, offset)
	}
	return all
}

// nineteenPoint returns the steps in one dimension, and the diagonals of two: all that surrounds a
// point except the corners of the cube.
func nineteenPoint() [][]int {
	return slices.DeleteFunc(surrounding(3), func(offset []int) bool { return !slices.Contains(offset, 0) })
}

// maxDimensions limits the search: 2^12 ranks are a hypercube of 12 dimensions.
const maxDimensions = 16

// lattices returns all grids, tori and cylinders with n ranks, and the stencils on them. A cylinder
// is, for example, a channel, which is periodic along the flow and ends at its walls.
func lattices(n int) []*Pattern {
	var all []*Pattern
	for _, dimensions := range factorisations(n, maxDimensions) {
		for _, periodic := range periods(dimensions) {
			all = append(all, latticePattern(lattice{dimensions, periodic, straight(len(dimensions))}, straightFamily(dimensions, periodic)))
			switch len(dimensions) {
			case 2:
				if uniform(periodic) { // no known program has one diagonal on a cylinder
					all = append(all, latticePattern(lattice{dimensions, periodic, sixPoint()}, SixPoint))
				}
				all = append(all, latticePattern(lattice{dimensions, periodic, surrounding(2)}, NinePoint))
			case 3:
				all = append(all,
					latticePattern(lattice{dimensions, periodic, nineteenPoint()}, Nineteen),
					latticePattern(lattice{dimensions, periodic, surrounding(3)}, TwentySeven))
			}
		}
	}
	return all
}

// periods returns the choices of periodic dimensions that give different graphs. Of k equal
// dimensions the first 0 … k are periodic. A dimension of 2 never is, since the neighbor around is
// the direct neighbor.
func periods(dimensions []int) [][]bool {
	all := [][]bool{nil}
	for i, d := range dimensions {
		var next [][]bool
		for _, so := range all {
			next = append(next, append(so[:i:i], false))
			if d > 2 && (i == 0 || dimensions[i-1] != d || so[i-1]) {
				next = append(next, append(so[:i:i], true))
			}
		}
		all = next
	}
	return all
}

func uniform(flags []bool) bool {
	for _, f := range flags {
		if f != flags[0] {
			return false
		}
	}
	return true
}

// straightFamily names a lattice without diagonals. A dimension of 2 counts as either.
func straightFamily(dimensions []int, periodic []bool) Family {
	around, open := false, false
	for i, d := range dimensions {
		around = around || periodic[i]
		open = open || !periodic[i] && d > 2
	}
	switch {
	case len(dimensions) == 1 && around:
		return Ring
	case len(dimensions) == 1:
		return Line
	case !around && !open && len(dimensions) > 2:
		return Hypercube
	case around && open:
		return Cylinder
	case around:
		return Torus
	default:
		return Grid
	}
}

func latticePattern(l lattice, family Family) *Pattern {
	p := &Pattern{
		Family: family, Dimensions: l.dimensions, Periodic: l.periodic, Order: l.order(),
		size: l.size(), neighbors: l.neighbors(), coordinates: l.coordinates,
	}
	p.turned = func() []*Pattern { return orders(l, family) }
	p.transitive = true
	for i, d := range l.dimensions {
		p.transitive = p.transitive && (l.periodic[i] || d == 2 && len(l.offsets) == len(l.dimensions))
	}
	of := sizes(l.dimensions)
	switch family {
	case Line, Ring:
		p.Name = fmt.Sprintf("%s of %s", family, of)
		if p.Order == 2 {
			p.Name = "pair"
		}
	case Hypercube:
		p.Name = fmt.Sprintf("hypercube of dimension %d", len(l.dimensions))
	case Grid, Torus:
		p.Name = fmt.Sprintf("%s %s", of, family)
	case Cylinder:
		p.Name = fmt.Sprintf("%s grid, periodic in %s", of, around(l))
	default:
		p.Name = fmt.Sprintf("%s %s", of, family)
		switch {
		case !slices.Contains(l.periodic, true):
		case closed(l):
			p.Name += ", periodic"
		default:
			p.Name += ", periodic in " + around(l)
		}
	}
	return p
}

// closed reports whether a lattice has no boundary: a dimension of 2 counts as periodic.
func closed(l lattice) bool {
	for i, d := range l.dimensions {
		if !l.periodic[i] && d > 2 {
			return false
		}
	}
	return true
}

// around lists the sizes of the periodic dimensions: "8 and 4".
func around(l lattice) string {
	var list []string
	for i, periodic := range l.periodic {
		if periodic {
			list = append(list, fmt.Sprint(l.dimensions[i]))
		}
	}
	return strings.Join(list, " and ")
}

// maxOrders is the maximum number of orders of dimensions that are tried: all of up to five
// different ones.
const maxOrders = 120

// orders returns a lattice's patterns for all orders of its dimensions, its own first.
func orders(l lattice, family Family) []*Pattern {
	type dimension struct {
		size     int
		periodic bool
	}
	have := make([]dimension, len(l.dimensions))
	for i := range have {
		have[i] = dimension{l.dimensions[i], l.periodic[i]}
	}
	var all []*Pattern
	var place func(so []dimension, rest []dimension)
	place = func(so, rest []dimension) {
		if len(all) == maxOrders {
			return
		}
		if len(rest) == 0 {
			turned := lattice{offsets: l.offsets}
			for _, d := range so {
				turned.dimensions, turned.periodic = append(turned.dimensions, d.size), append(turned.periodic, d.periodic)
			}
			all = append(all, latticePattern(turned, family))
			return
		}
		for i, d := range rest {
			if slices.Index(rest, d) < i {
				continue
			}
			place(append(so[:len(so):len(so)], d), slices.Concat(rest[:i], rest[i+1:]))
		}
	}
	place(nil, have)
	return all
}
