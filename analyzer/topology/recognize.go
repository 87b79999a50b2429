package topology

import (
	"slices"
)

// families make all patterns with n ranks. A graph that is several patterns is named after the
// first of them in whose order its ranks are numbered, or after the first.
var families = []func(n int) []*Pattern{allToAll, masters, lattices, trees, cg, rowsColumns, circulants, butterflies}

// maxChoices limits the search for one isomorphism. Patterns need one choice per dimension or, for
// trees, per pair of equal subtrees; a graph that needs more is not one of them.
const maxChoices = 100_000

// A Match is a proof that a graph is a pattern.
type Match struct {
	Pattern *Pattern
	// Vertex is the pattern's vertex for each vertex of the graph.
	Vertex []int32
	// Natural: the graph is numbered like the pattern.
	Natural bool
}

// Recognize finds all patterns that a connected graph is, the preferred name first. `more` are the
// user's own patterns, which come before the known ones.
//
// It is the decision tree of the logicalization paper (§4.2): number of vertices, number of edges,
// degrees in order, then an isomorphism that proves the match. The graph's spectrum, the paper's
// filter before the last step, is omitted: refinement distinguishes whatever a spectrum does here,
// in less time, and the proof is needed in any case.
func Recognize(g *Graph, more []*Pattern) []Match {
	var natural, others []Match
	try := func(p *Pattern) {
		m, found := match(g, p)
		switch {
		case found && m.Natural:
			natural = append(natural, m)
		case found:
			others = append(others, m)
		}
	}
	for _, p := range more {
		try(p)
	}
	for _, patterns := range families {
		for _, p := range patterns(g.Order()) {
			try(p)
		}
	}
	return append(natural, others...)
}

// match proves that a graph is a pattern, if it is.
func match(g *Graph, p *Pattern) (Match, bool) {
	if p.Order != g.Order() || p.size != g.Size() {
		return Match{}, false
	}
	reference := p.Graph()
	if !slices.Equal(reference.degrees(), g.degrees()) {
		return Match{}, false
	}
	identity := make([]int32, g.Order())
	for v := range identity {
		identity[v] = int32(v)
	}
	for _, q := range p.orientations() {
		if maps(g, q.Graph(), identity) {
			return Match{q, identity, true}, true
		}
	}
	vertex, _ := isomorphism(g, reference, p.transitive, maxChoices)
	return Match{p, vertex, false}, vertex != nil
}

// orientations returns the pattern with its dimensions in all orders: a 4 x 2 grid can be numbered
// along either.
func (p *Pattern) orientations() []*Pattern {
	if p.turned == nil {
		return []*Pattern{p}
	}
	return p.turned()
}
