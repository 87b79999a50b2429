package placement

import (
	"iter"
	"maps"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/topology"
)

// maxTilings bounds the number of tilings of a lattice that are tried.
const maxTilings = 256

// tilings yields orders of the ranks in which any size consecutive ranks are a block, or nearly
// one, of the lattice that their traffic forms. The lattice is cut into bars, which are as long as
// the lattice in one dimension and as wide as the block in the others. Ranks follow each other
// along a bar, then along the next one, back and forth. Blocks that divide the lattice come first.
// row maps the ranks of the trace to rows; ranks that do not communicate come last.
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

// bars returns the possible widths of bars in the other dimensions, of at most size ranks: if even,
// those that divide the lattice and the size, otherwise the others.
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

// A tiler orders ranks by bars.
type tiler struct {
	dimensions []int
	copies     int
	talking    []vertex
	at         []int // coordinates of the communicating ranks, one rank after the other
	silent     []int // rows of the ranks that do not communicate
	slots      []int // scratch for rows
}

// A vertex is a rank of the lattice: its copy of the lattice, and its row.
type vertex struct{ copy, row int }

func newTiler(shape *topology.Topology, row map[int]int) *tiler {
	t := &tiler{dimensions: shape.Pattern.Dimensions, copies: shape.Copies}
	plain := len(t.dimensions) == 0
	if plain { // its vertices are consecutive
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

// order returns the ranks along bars of these widths in the direction of the dimension run.
func (t *tiler) order(widths []int, run int) []int {
	n := len(t.dimensions)
	// per copy: each vertex has one; where bars extend beyond the lattice some have no vertex
	keys := t.dimensions[run]
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

// key returns the position of a vertex in that order.
func (t *tiler) key(at, widths []int, run int) int {
	key := 0
	next := func(x, n int) { // forward if the previous position is even, otherwise backward
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
