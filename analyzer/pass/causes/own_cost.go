package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// callCost is the time of calls of a kind without waiting for other ranks.
type callCost struct{ kind verdict.Kind }

// isAbout reports whether a cause of a kind may be about the calls of a call site.
func isAbout(e *evidence, kind verdict.Kind, call accounts.Activity) bool {
	return !call.Computes() && e.KindOfCall(call) == kind &&
		(kind != verdict.Messages || e.Names.Trace.Semantics(call.Function).IsAboutMessages())
}

// suggest assumes that calls of a kind take only the time that they wait for other ranks. For
// messages and collectives it is limited to the costliest call site and similar ones: small calls
// cost by their number, large ones by their duration. The part of their time in which somebody
// lacks a CPU, or is stopped, belongs to other causes.
func (c callCost) suggest(e *evidence) []Hypothesis {
	where, most := costliestOf(e, c.kind)
	if !e.isWorthIt(longestIn(e, c.kind)) {
		return nil
	}
	h := Hypothesis{width: ofCostlyCalls}
	long := longCallsOf(e, where)
	if long != nil {
		h.Cause = long.causeOf(e, c.kind, where)
		countCalls(e, &h.Cause, where)
	} else {
		h.Cause = e.causeOf(c.kind, nil, where)
		h.Cause.EachSeconds = accounts.Seconds(most) / float64(max(1, e.Total[where].Count))
		sized := countCalls(e, &h.Cause, where)
		isOfCommunication := c.kind == verdict.Messages || c.kind == verdict.Collectives
		if isOfCommunication {
			setPieces(e, &h.Cause, where)
		}
		h.Cause.Form = formOfCalls(e, &h.Cause, where, sized)
		h.Cause.Estimate = isOfCommunication && h.Cause.Form != verdict.TooLarge // some calls are necessary
	}
	if sites := callSites(e, c.kind); sites > 1 {
		h.Cause.Regions = sites
	}
	if c.kind == verdict.Messages && crossNodes(e) {
		h.Cause.Kind = verdict.Network
	}
	if c.kind == verdict.Messages || c.kind == verdict.Collectives {
		setRetransmits(e, &h.Cause)
	}
	var left map[accounts.Activity]float64
	if long != nil {
		left = long.remains(e, c.kind)
	} else {
		left = remains(e, where, &h.Cause)
	}
	h.change = change{keeps: func(function uint16, site uint32) float64 {
		what := accounts.Activity{Function: function, Site: site}
		part, is := left[what]
		if !is {
			return 1
		}
		lacks := e.lacks.OfAll(what, lacking)
		return lacks + (1-lacks)*part
	}}
	h.What = whatCosts(&h.Cause, len(left)-1)
	h.Assumes = "The calls themselves take no time, except that in which a rank lacks a CPU or is stopped; they still wait for other ranks."
	if h.Cause.Form == verdict.NoOverlap {
		h.Assumes = "What these calls complete proceeds from its start on, so that they take only what remains; they still wait for other ranks."
	}
	return []Hypothesis{h}
}

// callSites returns the number of call sites of a kind.
func callSites(e *evidence, kind verdict.Kind) (n int) {
	for what, t := range e.Total {
		if isAbout(e, kind, what) && t.Own() > 0 {
			n++
		}
	}
	return n
}

// costliestOf returns the call site of a kind that costs most, without waiting for other ranks or
// for a CPU, and that time in ns.
func costliestOf(e *evidence, kind verdict.Kind) (where accounts.Activity, most int64) {
	costs := map[accounts.Activity]int64{}
	for what := range e.Total {
		if isAbout(e, kind, what) {
			costs[what] = e.costOf(what)
		}
	}
	return largest(costs)
}

// longestIn returns the longest time that calls of a kind cost a rank.
func longestIn(e *evidence, kind verdict.Kind) int64 {
	most := int64(0)
	for row, i := range e.MainOf {
		if i < 0 {
			continue
		}
		ns := int64(0)
		for what, t := range e.Each[i].Tallies {
			if isAbout(e, kind, what) {
				part := e.lacks.Of(row, what)
				ns += int64((1 - part.Sum()) * float64(t.Own()))
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
