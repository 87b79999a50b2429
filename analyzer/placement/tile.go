package placement

import (
	"iter"
	"maps"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/topology"
)

// maxTilings bounds the ways to tile a lattice that are tried.
const maxTilings = 256

// tilings are orders of the ranks in which any so many ranks in a row, size, are a block of the lattice that their
// traffic is, or nearly one. The lattice is cut into bars, one dimension long and in the others as wide as the block;
// ranks follow each other along a bar, then along the next one, there and back. Blocks that divide the lattice come
// first. row says which ranks the trace has, and where; those that do not talk come last.
func tilings(shape *topology.Topology, row map[int]int, size int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		if shape.Pattern == nil {
			return
		}
		t := newTiler(shape, row)
		dimensions := t.dimensions
		left := maxTilings
		for _, even := range []bool{true, false} {
			for run := range dimensions {
				all := bars(dimensions, run, size, even, left)
				left -= len(all)
				for _, widths := range all {
					if !yield(t.order(widths, run)) {
						return
					}
				}
			}
		}
	}
}

// bars are the widths of bars along a dimension in the others, of at most size ranks: those that divide the lattice and
// the size, or the others.
func bars(dimensions []int, run, size int, even bool, limit int) [][]int {
	var all [][]int
	widths := make([]int, len(dimensions))
	var choose func(i, room int, divides bool)
	choose = func(i, room int, divides bool) {
		switch {
		case len(all) >= limit:
		case i == len(dimensions):
			if divides == even {
				all = append(all, slices.Clone(widths))
			}
		case i == run:
			choose(i+1, room, divides)
		default:
			for w := min(room, dimensions[i]); w > 0; w-- {
				if fits := dimensions[i]%w == 0 && room%w == 0; fits || !even {
					widths[i] = w
					choose(i+1, room/w, divides && fits)
				}
			}
		}
	}
	choose(0, size, true)
	return all
}

// A tiler puts ranks into the order of bars.
type tiler struct {
	dimensions []int
	copies     int
	talking    []vertex
	at         []int // coordinates of the talking ranks, one rank after the other
	silent     []int // rows of the ranks that do not talk
	slots      []int // room for rows
}

// A vertex is a rank of the lattice: in which of its copies it is, and the row.
type vertex struct{ copy, row int }

func newTiler(shape *topology.Topology, row map[int]int) *tiler {
	t := &tiler{dimensions: shape.Pattern.Dimensions, copies: shape.Copies}
	plain := len(t.dimensions) == 0
	if plain { // its vertices follow each other
		t.dimensions = []int{shape.Pattern.Order}
	}
	for _, rank := range slices.Sorted(maps.Keys(row)) {
		i := row[rank]
		if rank >= len(shape.Vertex) || shape.Vertex[rank] < 0 {
			t.silent = append(t.silent, i)
			continue
		}
		t.talking = append(t.talking, vertex{shape.Copy[rank], i})
		if v := shape.Vertex[rank]; plain {
			t.at = append(t.at, v)
		} else {
			t.at = append(t.at, shape.Pattern.Coordinates(v)...)
		}
	}
	return t
}

// order is the ranks along the bars of these widths in the direction of the dimension run.
func (t *tiler) order(widths []int, run int) []int {
	n := len(t.dimensions)
	keys := t.dimensions[run] // of a copy: each vertex has one, where bars stick out of the lattice some have no vertex
	for d, w := range widths {
		if d != run {
			keys *= (t.dimensions[d] + w - 1) / w * w
		}
	}
	t.slots = append(t.slots[:0], make([]int, keys*t.copies)...)
	for i, v := range t.talking {
		t.slots[v.copy*keys+t.key(t.at[i*n:(i+1)*n], widths, run)] = v.row + 1
	}
	order := make([]int, 0, len(t.talking)+len(t.silent))
	for _, row := range t.slots {
		if row > 0 {
			order = append(order, row-1)
		}
	}
	return append(order, t.silent...)
}

// key is where a vertex is in that order.
func (t *tiler) key(at, widths []int, run int) int {
	key := 0
	next := func(x, n int) { // there if what is before is even, else back
		if key%2 == 1 {
			x = n - 1 - x
		}
		key = key*n + x
	}
	for d, x := range at {
		if d != run {
			next(x/widths[d], (t.dimensions[d]+widths[d]-1)/widths[d])
		}
	}
	next(at[run], t.dimensions[run])
	for d, x := range at {
		if d != run {
			key = key*widths[d] + x%widths[d]
		}
	}
	return key
}
