package causes

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// callCost is the time of calls of a kind without waiting for other ranks.
type callCost struct{ kind verdict.Kind }

// isAbout reports whether a cause of a kind may be about a call.
func isAbout(e *evidence, kind verdict.Kind, function uint16) bool {
	return e.Names.KindOfCall(function) == kind && (kind != verdict.Messages || e.Names.Trace.Semantics(function).IsAboutMessages())
}

// suggest assumes that calls of a kind take only the time that they wait for other ranks. For
// messages and collectives it is limited to the costliest call site and similar ones: small calls
// cost by their number, large ones by their duration. The part of their time in which they wait for
// a CPU belongs to another cause.
func (c callCost) suggest(e *evidence) []Hypothesis {
	kind := c.kind
	var where accounts.Activity
	most := int64(-1)
	for what, t := range e.Total {
		if what.Computes() || !isAbout(e, kind, what.Function) {
			continue
		}
		if own := t.Ns - t.Waited; own > most || own == most && what.Less(where) {
			most, where = own, what
		}
	}
	if !e.isWorthIt(longestIn(e, kind)) {
		return nil
	}
	h := Hypothesis{width: ofCostlyCalls, Cause: e.causeOf(kind, nil, where)}
	h.Cause.EachSeconds = accounts.Seconds(most) / float64(max(1, e.Total[where].Count))
	countCalls(e, &h.Cause, where)
	h.Assumes = "The calls themselves take no time, except that in which they wait for a CPU; they still wait for other ranks."
	switch kind {
	case verdict.Messages:
		h.Cause.Form, h.Cause.Estimate = verdict.TooMany, true // some calls are necessary
	case verdict.Collectives:
		h.Cause.Form, h.Cause.Estimate = verdict.TooOften, true
	}
	if h.Cause.Form != "" && h.Cause.Bytes >= smallMessage {
		h.Cause.Form, h.Cause.Estimate = verdict.TooLarge, false
	}
	if kind == verdict.Messages && crossNodes(e) {
		h.Cause.Kind = verdict.Network
	}
	free := like(e, where, &h.Cause)
	h.change = change{keeps: func(function uint16, site uint32) float64 {
		what := accounts.Activity{Function: function, Site: site}
		if !free[what] {
			return 1
		}
		return e.delayedPart(what)
	}}
	switch n := len(free) - 1; {
	case h.Cause.Kind == verdict.Network:
		h.What = "messages cost nothing"
	case kind == verdict.IO:
		h.What = "files cost nothing"
	case n == 0:
		h.What = h.Cause.Before.At() + " cost nothing"
	default:
		h.What = fmt.Sprintf("%s and %s cost nothing", h.Cause.Before.At(), wording.Count(n, "call site like it", "call sites like it"))
	}
	return []Hypothesis{h}
}

// like returns the call sites that a cause includes in addition to its costliest one: for small
// messages and collectives those that are called at least half as often, for large ones those whose
// calls take at least half as long, otherwise all of its kind.
func like(e *evidence, costliest accounts.Activity, c *verdict.Cause) map[accounts.Activity]bool {
	kind, is := e.Names.KindOfCall(costliest.Function), map[accounts.Activity]bool{}
	own := func(t *accounts.Tally) float64 { return float64(t.Ns-t.Waited) / float64(max(1, t.Count)) }
	of := e.Total[costliest]
	for what, t := range e.Total {
		if what.Computes() || !isAbout(e, kind, what.Function) {
			continue
		}
		like := true
		switch {
		case c.Kind == verdict.Network:
		case c.Form == verdict.TooMany, c.Form == verdict.TooOften:
			like = 2*t.Count >= of.Count
		case c.Form == verdict.TooLarge:
			like = 2*own(t) >= own(of)
		}
		if like {
			is[what] = true
		}
	}
	return is
}

// longestIn returns the longest own time (without waiting) that a rank spent in calls of a kind.
func longestIn(e *evidence, kind verdict.Kind) int64 {
	most := int64(0)
	for _, i := range e.MainOf {
		if i < 0 {
			continue
		}
		ns := int64(0)
		for what, t := range e.Each[i].Tallies {
			if !what.Computes() && isAbout(e, kind, what.Function) {
				ns += t.Ns - t.Waited
			}
		}
		most = max(most, ns)
	}
	return most
}

// crossNodes reports whether most bytes or messages go from one node to another.
func crossNodes(e *evidence) bool {
	m := &e.profile.Matrix
	nodes := map[int]string{}
	for i := range e.Ranks {
		nodes[e.Ranks[i].Rank] = accounts.NodeOf(&e.Ranks[i])
	}
	crossing, all := uint64(0), uint64(0)
	for _, cell := range m.Cells {
		all += cell.Calls
		if nodes[cell.From*m.Tile] != nodes[cell.To*m.Tile] {
			crossing += cell.Calls
		}
	}
	return all > 0 && 2*crossing > all
}
