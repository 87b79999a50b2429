package skeleton

import (
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/topology"
)

// A shape is the topology of the run, if it has a meaning for other numbers of ranks: peers are
// neighbors in it then, as in the logical trace of "Logicalization of MPI communication traces"
// (§4.3), and are neighbors at any size. Ranks must be numbered like the shape: row by row for a
// grid.
type shape struct {
	kind     shapeKind
	name     string // with sizes, for messages
	pattern  *topology.Pattern
	extents  []int // of a grid, slowest dimension first
	periodic []bool
	order    dimensionOrder
	bits     int // of a hypercube
}

type shapeKind int

const (
	gridShape shapeKind = iota + 1 // includes lines and rings
	hypercubeShape
	binomialShape
)

// A dimensionOrder is how the extents of a grid relate to those of MPI_Dims_create, which are
// sorted largest first.
type dimensionOrder int

const (
	largestFirst dimensionOrder = iota
	largestLast
	ofItsOwn // they are unrelated
)

// The minimum numbers of ranks that distinguish a shape from others: 2 x 2 x 2 ranks are a
// hypercube as well as a grid, and fewer than four in a line could be all-to-all, or a tree.
const (
	leastGrid      = 4
	leastHypercube = 16
	leastTree      = 8
)

// recognize returns the shape of a run; nil: there is none.
func recognize(t timeline.Trace, ranks int) (*shape, error) {
	traffic, err := t.Matrix()
	if err != nil {
		return nil, fmt.Errorf("communication matrix: %w", err)
	}
	found := topology.Identify(topology.World(traffic, ranks), topology.Options{})
	if found.Pattern == nil || !found.Natural || found.Copies != 1 || found.Silent > 0 {
		return nil, nil
	}
	p := found.Pattern
	s := &shape{name: p.Name, pattern: p}
	switch p.Family {
	case topology.Line, topology.Ring, topology.Grid, topology.Torus, topology.Cylinder, topology.SixPoint, topology.NinePoint,
		topology.Nineteen, topology.TwentySeven:
		s.kind, s.extents, s.periodic, s.order = gridShape, p.Dimensions, p.Periodic, orderOf(p.Dimensions)
		if ranks < leastGrid {
			return nil, nil
		}
	case topology.Hypercube:
		s.kind, s.bits = hypercubeShape, bits.Len(uint(ranks))-1
		if ranks < leastHypercube {
			return nil, nil
		}
	case topology.BinomialTree:
		s.kind = binomialShape
		if ranks < leastTree {
			return nil, nil
		}
	default:
		return nil, nil
	}
	return s, nil
}

func orderOf(extents []int) dimensionOrder {
	n := 1
	for _, e := range extents {
		n *= e
	}
	even := evenDimensions(n, len(extents))
	if slices.Equal(extents, even) {
		return largestFirst
	}
	slices.Reverse(even)
	if slices.Equal(extents, even) {
		return largestLast
	}
	return ofItsOwn
}

// evenDimensions divides n like MPI_Dims_create: as evenly as possible, the largest first.
func evenDimensions(n, dimensions int) []int {
	best := append([]int{n}, slices.Repeat([]int{1}, dimensions-1)...)
	var divide func(rest, largest int, so []int)
	divide = func(rest, largest int, so []int) {
		if len(so) == dimensions-1 {
			if rest <= largest && so[0]-rest < best[0]-best[dimensions-1] {
				best = append(slices.Clone(so), rest)
			}
			return
		}
		for f := min(rest, largest); f >= 1; f-- {
			if rest%f == 0 {
				divide(rest/f, f, append(so, f))
			}
		}
	}
	if dimensions > 1 {
		divide(n, n, make([]int, 0, dimensions))
	}
	return best
}

// isGrid reports whether the shape is a grid of several dimensions.
func (s *shape) isGrid() bool { return s != nil && s.kind == gridShape && len(s.extents) > 1 }

func (s *shape) is(kind shapeKind) bool { return s != nil && s.kind == kind }

// A spot is a rank in a run of some size, with its position in the shape.
type spot struct {
	rank, size  int
	extents, at []int // in a grid
	turn        int   // iteration of the innermost loop
}

// spots returns the spots of a run with a number of ranks, nil if the shape does not have that
// size.
func (s *shape) spots(size int) []spot {
	list := make([]spot, size)
	var extents []int
	switch {
	case s.is(hypercubeShape) && bits.OnesCount(uint(size)) != 1:
		return nil
	case s.is(gridShape):
		extents = evenDimensions(size, len(s.extents))
		if s.order == largestLast {
			slices.Reverse(extents)
		}
	}
	for r := range list {
		list[r] = spot{rank: r, size: size, extents: extents, at: coordinates(r, extents)}
	}
	return list
}

// coordinates of a rank, the last dimension fastest.
func coordinates(rank int, extents []int) []int {
	at := make([]int, len(extents))
	for i := len(extents) - 1; i >= 0; i-- {
		at[i] = rank % extents[i]
		rank /= extents[i]
	}
	return at
}

// noRank is MPI_PROC_NULL as a number.
const noRank = -1 << 20

// neighbor returns the rank at a displacement, noRank beyond an edge.
func (s *shape) neighbor(of *spot, steps []int) int64 {
	to := 0
	for i, n := range of.extents {
		x := of.at[i] + steps[i]
		if s.periodic[i] {
			x = (x + n) % n
		} else if x < 0 || x >= n {
			return noRank
		}
		to = to*n + x
	}
	return int64(to)
}

// steps returns the displacement from a rank to another one; nil: they are not neighbors.
func (s *shape) steps(from, to int) []int {
	if s.pattern.Direction(from, to) == "" {
		return nil
	}
	a, b := coordinates(from, s.extents), coordinates(to, s.extents)
	steps := make([]int, len(a))
	for i, n := range s.extents {
		if steps[i] = b[i] - a[i]; s.periodic[i] && steps[i] > 1 {
			steps[i] -= n
		} else if s.periodic[i] && steps[i] < -1 {
			steps[i] += n
		}
	}
	return steps
}

// Dimensions, Extents and Around describe a grid in C.
func (s *shape) Dimensions() int { return len(s.extents) }

// Extents are the recorded ones.
func (s *shape) Extents() string { return numbers(s.extents) }

// Around is 1 for periodic dimensions.
func (s *shape) Around() string {
	list := make([]int, len(s.periodic))
	for i, p := range s.periodic {
		if p {
			list[i] = 1
		}
	}
	return numbers(list)
}

// LargestLast and OfItsOwn report how the extents relate to MPI_Dims_create.
func (s *shape) LargestLast() bool { return s.order == largestLast }

// OfItsOwn reports whether they are unrelated.
func (s *shape) OfItsOwn() bool { return s.order == ofItsOwn }

// Steps returns the parameters of neighbor in C.
func (s *shape) Steps(prefix string) string {
	words := make([]string, len(s.extents))
	for i := range words {
		words[i] = fmt.Sprintf("%sd%d", prefix, i)
	}
	return strings.Join(words, ", ")
}

func numbers(list []int) string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = fmt.Sprint(x)
	}
	return strings.Join(words, ", ")
}

// list returns the extents as an argument.
func (s *shape) list() string {
	values := make([]scalar, len(s.extents))
	for i, e := range s.extents {
		values[i].number = int64(e)
	}
	return fmt.Sprint(values)
}

// words are the identifiers of a shape in a C program.
var words = map[shapeKind]*regexp.Regexp{
	gridShape:      regexp.MustCompile(`\bneighbor\(|\bplace\[|\bdims\b`),
	hypercubeShape: regexp.MustCompile(`\bbits\b`),
	binomialShape:  regexp.MustCompile(`\bchildren\b`),
}

// usedShape returns the shape if the program uses it, else nil.
func (w *writer) usedShape(text string) *shape {
	if w.shape == nil || !words[w.shape.kind].MatchString(text) {
		return nil
	}
	return w.shape
}

// Grid, Hypercube and Binomial report the kind of the shape to the template.
func (s *shape) Grid() bool { return s.kind == gridShape }

// Hypercube reports whether the shape is a hypercube.
func (s *shape) Hypercube() bool { return s.kind == hypercubeShape }

// Binomial reports whether the shape is a binomial tree.
func (s *shape) Binomial() bool { return s.kind == binomialShape }

// sizes describes on which numbers of ranks a program runs, and why.
func (s *shape) sizes(least int) string {
	text := "any number of ranks"
	if least > 1 {
		text = fmt.Sprintf("%d ranks and more", least)
	}
	switch {
	case s == nil:
		return text + ": what differs from rank to rank is a function of rank and size"
	case s.kind == hypercubeShape:
		text = "2, 4, 8, ... ranks"
	}
	text += fmt.Sprintf(": the %d ranks were recognized as a %s, and peers are neighbors in it", s.pattern.Order, s.name)
	if s.order == ofItsOwn {
		text += "; SKELETON_DIMS sets its dimensions"
	}
	return text
}
