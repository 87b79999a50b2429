package topology

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// A Custom is a pattern of the user's own: a stencil, given by Offsets for any sizes, or one
// graph, given by Edges.
//
//	[
//	  {"name": "knight", "offsets": [[1, 2], [2, 1]], "periodic": true},
//	  {"name": "two triangles", "ranks": 5,
//	   "edges": [[0, 1], [1, 2], [2, 0], [2, 3], [3, 4], [4, 2]]}
//	]
type Custom struct {
	Name     string   `json:"name"`
	Offsets  [][]int  `json:"offsets,omitempty"` // one of each pair of opposite ones, slowest dimension first
	Periodic bool     `json:"periodic,omitempty"`
	Ranks    int      `json:"ranks,omitempty"`
	Edges    [][2]int `json:"edges,omitempty"`
}

// ReadCustom reads a file of patterns.
func ReadCustom(r io.Reader) ([]Custom, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var all []Custom
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("patterns: %w; a list of {name, offsets, periodic} or {name, ranks, edges} is expected", err)
	}
	for i, c := range all {
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("pattern %d (%q): %w", i+1, c.Name, err)
		}
	}
	return all, nil
}

func (c Custom) check() error {
	switch {
	case c.Name == "":
		return fmt.Errorf("it needs a name")
	case (len(c.Offsets) > 0) == (len(c.Edges) > 0):
		return fmt.Errorf("it needs either offsets or edges")
	case len(c.Edges) > 0 && c.Ranks < 2:
		return fmt.Errorf("edges need the number of ranks")
	}
	for _, o := range c.Offsets {
		if len(o) == 0 || len(o) > maxDimensions || len(o) != len(c.Offsets[0]) {
			return fmt.Errorf("offset %v: all offsets need the same number of dimensions, 1 to %d", o, maxDimensions)
		}
		if !slices.ContainsFunc(o, func(step int) bool { return step != 0 }) {
			return fmt.Errorf("offset %v leads nowhere", o)
		}
	}
	for _, e := range c.Edges {
		if min(e[0], e[1]) < 0 || max(e[0], e[1]) >= c.Ranks || e[0] == e[1] {
			return fmt.Errorf("edge %v: ranks are 0 to %d, and two of them", e, c.Ranks-1)
		}
	}
	return nil
}

// patternsOf returns the users' patterns with n ranks.
func patternsOf(custom []Custom, n int) []*Pattern {
	var all []*Pattern
	for _, c := range custom {
		if c.Ranks == n {
			all = append(all, c.graph())
		}
		if len(c.Offsets) == 0 {
			continue
		}
		for _, dimensions := range factorisations(n, len(c.Offsets[0])) {
			if len(dimensions) == len(c.Offsets[0]) {
				all = append(all, c.stencils(dimensions)...)
			}
		}
	}
	return all
}

// stencils returns those on a lattice of these sizes, in any order: offsets need not be alike in
// all dimensions.
func (c Custom) stencils(dimensions []int) []*Pattern {
	periodic := make([]bool, len(dimensions))
	for i := range periodic {
		periodic[i] = c.Periodic
	}
	all := orders(lattice{dimensions, periodic, c.Offsets}, UserDefined)
	for _, p := range all {
		p.Name = sizes(p.Dimensions) + " " + c.Name
		p.turned, p.transitive = nil, c.Periodic
		p.size = p.Graph().Size()
	}
	return all
}

func (c Custom) graph() *Pattern {
	g := NewGraph(c.Ranks, func(yield func(int, int) bool) {
		for _, e := range c.Edges {
			if !yield(e[0], e[1]) {
				return
			}
		}
	})
	return &Pattern{
		Family: UserDefined, Name: c.Name, Order: c.Ranks, size: g.Size(),
		neighbors: func(v int, yield func(int, string)) {
			for _, w := range g.Neighbors(v) {
				yield(int(w), fmt.Sprintf("vertex %d", w))
			}
		},
	}
}
