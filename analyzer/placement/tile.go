package placement

import (
	"iter"
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
		dimensions := shape.Pattern.Dimensions
		if len(dimensions) == 0 {
			yield(barOrder(shape, row, []int{shape.Pattern.Order}, []int{0}, 0))
			return
		}
		left := maxTilings
		for _, even := range []bool{true, false} {
			for run := range dimensions {
				all := bars(dimensions, run, size, even, left)
				left -= len(all)
				for _, widths := range all {
					if !yield(barOrder(shape, row, dimensions, widths, run)) {
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

// barOrder are the ranks along the bars of these widths.
func barOrder(shape *topology.Topology, row map[int]int, dimensions, widths []int, run int) []int {
	type step struct{ group, key, rank int }
	steps := make([]step, 0, len(row))
	for rank, i := range row {
		if rank >= len(shape.Vertex) || shape.Vertex[rank] < 0 {
			steps = append(steps, step{shape.Copies, rank, i})
			continue
		}
		at := []int{shape.Vertex[rank]}
		if len(shape.Pattern.Dimensions) > 0 {
			at = shape.Pattern.Coordinates(shape.Vertex[rank])
		}
		key := 0
		next := func(x, n int) { // there if what is before is even, else back
			if key%2 == 1 {
				x = n - 1 - x
			}
			key = key*n + x
		}
		for d, x := range at {
			if d != run {
				next(x/widths[d], (dimensions[d]+widths[d]-1)/widths[d])
			}
		}
		next(at[run], dimensions[run])
		for d, x := range at {
			if d != run {
				key = key*widths[d] + x%widths[d]
			}
		}
		steps = append(steps, step{shape.Copy[rank], key, i})
	}
	slices.SortFunc(steps, func(a, b step) int {
		if a.group != b.group {
			return a.group - b.group
		}
		return a.key - b.key
	})
	order := make([]int, len(steps))
	for i, s := range steps {
		order[i] = s.rank
	}
	return order
}
