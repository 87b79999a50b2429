package topology

import (
	"fmt"
	"strings"
)

// A Topology describes the traffic of a communicator.
type Topology struct {
	// Pattern is formed by the ranks that communicate, or by each group of them if there are
	// several Copies; nil: unknown.
	Pattern *Pattern
	// Aliases are the other names of the same graph.
	Aliases []string
	Copies  int
	// Copy and Vertex are, for each rank, its copy and its vertex in the pattern; −1: it does not
	// communicate.
	Copy, Vertex []int
	Silent       int // ranks that do not communicate
	// Natural: ranks are numbered like the pattern.
	Natural bool
	// OneWay: the pattern is a lattice, and messages go in one direction along each dimension: a
	// wavefront.
	OneWay bool
	// Inside counts the traffic on the pattern's edges, Outside what the filter left out.
	Inside, Outside Volume
	// Filtered: the pattern was found only after pairs with little traffic were left out.
	Filtered bool
}

// A Volume is an amount of traffic.
type Volume struct {
	Calls uint64 `json:"calls"`
	Bytes uint64 `json:"bytes"`
}

// DefaultThreshold is that of the paper, in percent: pairs with less of both calls and bytes are
// not part of a pattern.
const DefaultThreshold = 5

// Options of Identify.
type Options struct {
	// Threshold in percent, below which a pair's traffic is not part of the pattern; 0 means
	// DefaultThreshold, a negative one that nothing is left out.
	Threshold float64
	// Patterns are the user's own.
	Patterns []Custom
}

// Identify finds the topology of a communicator. It tries all traffic, then the traffic without
// pairs with few calls and few bytes, then without pairs with few bytes (NPB MG's coarse levels
// exchange as often as the fine ones). Several groups of ranks without messages between them are
// one topology if all are the same pattern.
func Identify(m Matrix, o Options) Topology {
	pairs := m.pairs()
	t := identify(pairs, m.Order, o.Patterns)
	if o.Threshold == 0 {
		o.Threshold = DefaultThreshold
	}
	for _, counts := range []measure{callsAndBytes, bytesAlone} {
		kept := filter(pairs, m.Order, o.Threshold, counts)
		if t.Pattern != nil || len(kept) == len(pairs) {
			continue
		}
		if filtered := identify(kept, m.Order, o.Patterns); filtered.Pattern != nil {
			t = filtered
			t.Filtered = true
		}
	}
	for _, p := range pairs {
		t.Outside.Calls += p.calls
		t.Outside.Bytes += p.bytes
	}
	t.Outside.Calls -= t.Inside.Calls
	t.Outside.Bytes -= t.Inside.Bytes
	return t
}

func identify(pairs []pair, order int, custom []Custom) Topology {
	t := Topology{Copy: make([]int, order), Vertex: make([]int, order), Natural: true}
	for rank := range order {
		t.Copy[rank], t.Vertex[rank] = -1, -1
	}
	g := graphOf(pairs, order)
	components := g.components()
	t.Silent = order
	for _, ranks := range components {
		t.Silent -= len(ranks)
	}
	if len(components) == 0 {
		return t
	}
	first := Recognize(g.induced(components[0]), patternsOf(custom, len(components[0])))
	if len(first) == 0 {
		return t
	}
	matches := make([]Match, len(components))
	matches[0] = first[0]
	for i, ranks := range components[1:] {
		m, found := match(g.induced(ranks), first[0].Pattern)
		if !found {
			return t
		}
		matches[i+1] = m
	}
	t.Pattern, t.Copies = first[0].Pattern, len(components)
	for _, m := range first[1:] {
		t.Aliases = append(t.Aliases, m.Pattern.Name)
	}
	for i, ranks := range components {
		t.Natural = t.Natural && matches[i].Natural
		for j, rank := range ranks {
			t.Copy[rank], t.Vertex[rank] = i, int(matches[i].Vertex[j])
		}
	}
	for _, p := range pairs {
		t.Inside.Calls += p.calls
		t.Inside.Bytes += p.bytes
	}
	t.OneWay = t.oneWay(pairs)
	return t
}

// oneWay reports whether messages go in one direction along each dimension of a lattice with a
// boundary.
func (t *Topology) oneWay(pairs []pair) bool {
	switch t.Pattern.Family {
	case Line, Grid, SixPoint, NinePoint, Nineteen, TwentySeven:
	default:
		return false
	}
	way := map[string]bool{}
	for _, p := range pairs {
		if p.up > 0 && p.down > 0 {
			return false
		}
		from, to := p.low, p.high
		if p.down > 0 {
			from, to = to, from
		}
		way[t.Pattern.Direction(t.Vertex[from], t.Vertex[to])] = true
	}
	for direction := range way {
		if way[opposite.Replace(direction)] {
			return false
		}
	}
	return true
}

var opposite = strings.NewReplacer("+", "-", "-", "+")

// Name describes the topology in a few words.
func (t *Topology) Name() string {
	switch {
	case t.Pattern == nil && t.Silent == len(t.Copy):
		return "no messages"
	case t.Pattern == nil:
		return "irregular"
	}
	name := t.Pattern.Name
	if t.OneWay {
		name += ", wavefront"
	}
	if t.Copies > 1 {
		name = fmt.Sprintf("%d of: %s", t.Copies, name)
	}
	return name
}
