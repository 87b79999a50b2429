package topology

import (
	"fmt"
	"slices"
	"strings"
)

// Edges returns the pairs of ranks that the pattern joins, lower rank first, as a picture draws
// them. It is nil if the finding has no coordinates, or a user's pattern.
func (f *Finding) Edges() [][2]int {
	p := f.pattern()
	if p == nil {
		return nil
	}
	vertex := make(map[string]int, p.Order)
	for v := range p.Order {
		vertex[fmt.Sprint(p.Coordinates(v))] = v
	}
	// the rank at each vertex of each copy
	copies := max(1, f.Copies)
	ranks := make([][]int, copies)
	for c := range ranks {
		ranks[c] = slices.Repeat([]int{-1}, p.Order)
	}
	for rank, at := range f.Places {
		if at == nil {
			continue
		}
		c := 0
		if copies > 1 {
			c, at = at[0], at[1:]
		}
		v, known := vertex[fmt.Sprint(at)]
		if !known || c < 0 || c >= copies {
			return nil // the pattern does not match the finding
		}
		ranks[c][v] = rank
	}
	var edges [][2]int
	for _, of := range ranks {
		for v := range p.Order {
			p.neighbors(v, func(w int, _ string) {
				if v < w && of[v] >= 0 && of[w] >= 0 {
					edges = append(edges, [2]int{min(of[v], of[w]), max(of[v], of[w])})
				}
			})
		}
	}
	slices.SortFunc(edges, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(edges)
}

// pattern returns the pattern that the finding names, nil if it is not one of Recognize's own.
func (f *Finding) pattern() *Pattern {
	order := 0
	for _, at := range f.Places {
		if at != nil {
			order++
		}
	}
	if order /= max(1, f.Copies); order == 0 {
		return nil
	}
	name := strings.TrimSuffix(f.Topology, ", wavefront")
	if _, one, several := strings.Cut(name, " of: "); several {
		name = one
	}
	for _, patterns := range families {
		for _, p := range patterns(order) {
			if p.Family != f.Family {
				continue
			}
			for _, q := range p.orientations() {
				if slices.Equal(q.Dimensions, f.Dimensions) && slices.Equal(q.Periodic, f.Periodic) && q.Name == name {
					return q
				}
			}
		}
	}
	return nil
}
