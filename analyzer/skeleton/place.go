package skeleton

import (
	"fmt"
	"slices"
	"strings"
)

// A stretch is a range of positions in a dimension of a grid.
type stretch int

const (
	anywhere stretch = iota
	atStart
	notAtStart
	atEnd
	notAtEnd
	between
)

// text returns the condition in C.
func (s stretch) text(dimension int) string {
	start, end := fmt.Sprintf("place[%d]", dimension), fmt.Sprintf("dims[%d] - 1", dimension)
	switch s {
	case atStart:
		return start + " == 0"
	case notAtStart:
		return start + " > 0"
	case atEnd:
		return start + " == " + end
	case notAtEnd:
		return start + " < " + end
	case between:
		return start + " > 0 && " + start + " < " + end
	}
	return ""
}

func (s stretch) holds(x, extent int) bool {
	last := x == extent-1
	switch s {
	case atStart:
		return x == 0
	case notAtStart:
		return x > 0
	case atEnd:
		return last
	case notAtEnd:
		return !last
	case between:
		return x > 0 && !last
	}
	return true
}

// stretchOf returns the stretch of some positions, and whether it is certain: of two positions, the
// first one is also all but the last one.
func stretchOf(positions []bool) (s stretch, certain, found bool) {
	n := len(positions)
	for _, s := range []stretch{anywhere, atStart, atEnd, notAtStart, notAtEnd, between} {
		fits := true
		for x, there := range positions {
			fits = fits && s.holds(x, n) == there
		}
		if fits {
			return s, n > 2 || s == anywhere, true
		}
	}
	return 0, false, false
}

// atPlace returns a condition on the position of ranks in a grid: of those with a neighbor at a
// displacement, if the condition is that of calls to it (steps is not nil), or of those at an edge
// or next to it.
func (w *writer) atPlace(ranks, around []int, steps []int) (expression, bool) {
	if !w.shape.isGrid() {
		return expression{}, false
	}
	where := make([]stretch, len(w.shape.extents))
	certain := true
	if steps != nil {
		for i, d := range steps {
			switch {
			case w.shape.periodic[i] || d == 0:
			case d > 0:
				where[i] = notAtEnd
			default:
				where[i] = notAtStart
			}
		}
	} else {
		for i, extent := range w.shape.extents {
			here, all := make([]bool, extent), make([]bool, extent)
			for _, r := range ranks {
				here[coordinates(r, w.shape.extents)[i]] = true
			}
			for _, r := range around {
				all[coordinates(r, w.shape.extents)[i]] = true
			}
			if slices.Equal(here, all) {
				continue
			}
			s, sure, found := stretchOf(here)
			if !found {
				return expression{}, false
			}
			where[i], certain = s, certain && sure
		}
	}
	return w.stretches(where, ranks, around, certain)
}

// stretches returns the condition, if it distinguishes the ranks from those around.
func (w *writer) stretches(where []stretch, ranks, around []int, certain bool) (expression, bool) {
	holds := func(s *spot) int64 {
		for i, one := range where {
			if !one.holds(s.at[i], s.extents[i]) {
				return 0
			}
		}
		return 1
	}
	for _, r := range around {
		if (holds(w.spotOf(r)) != 0) != slices.Contains(ranks, r) {
			return expression{}, false
		}
	}
	var words []string
	for i, one := range where {
		if text := one.text(i); text != "" {
			words = append(words, text)
		}
	}
	if len(words) == 0 {
		return expression{}, false
	}
	e := expression{text: strings.Join(words, " && "), value: holds}
	if !certain {
		e.fixed = "a condition is of a dimension with two ranks, where the first one is also all but the last one"
	}
	return e, true
}

// coordinate returns a number that is a coordinate of the rank in a grid, such as the color of
// MPI_Comm_split.
func (w *writer) coordinate(columns []column) (expression, bool) {
	if !w.shape.isGrid() || !w.inWorld(columns) || len(columns) < len(w.ranks) {
		return expression{}, false
	}
	for i := range w.shape.extents {
		at := func(s *spot) int64 { return int64(s.at[i]) }
		if w.agree(columns, at) {
			return expression{text: fmt.Sprintf("place[%d]", i), value: at}, true
		}
	}
	return expression{}, false
}
