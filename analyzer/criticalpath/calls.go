package criticalpath

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// What the run loses to calls and to what surrounds them: late receivers, messages, collectives, files, ranks that compute one
// after the other, the start, the CPUs, the tracer.
const (
	smallMessage  = 8 << 10 // bytes: what is smaller costs by the message, not by the byte
	worthAsking   = 0.02    // of the run that a rank spends with what a hypothesis is about
	mostOfWaiting = 0.9     // of it that goes to some ranks, to name them,
	mostRanks     = 0.6     // if they are no more than so many of all
	eachTimeAlike = 0.6     // of the longest wait that the mean one is, in a chain
	lateStart     = 3.0     // times what ranks usually start apart
	longCall      = 500_000 // ns, on average: most of their time is in calls that are long enough to be measured
	mostDelayed   = 0.75    // of what was measured of calls that wait for a CPU more than for anything else
	finer         = 8       // times as many blocks, for a pipeline: a division that programs can do
)

// callHypotheses are those that are about calls, by what is lost to them.
func (a *search) callHypotheses() []hypothesis {
	var list []hypothesis
	for _, h := range []*hypothesis{
		a.lateReceivers(), a.ownCost(verdict.Messages), a.ownCost(verdict.Collectives), a.ownCost(verdict.IO), a.oneAfterTheOther(),
		a.lateStart(), a.fewCPUs(), a.limits(), a.tracing(),
	} {
		if h != nil {
			list = append(list, *h)
		}
	}
	return list
}

// isWorthIt reports whether so many ns of a rank are worth a hypothesis.
func (a *search) isWorthIt(ns int64) bool { return float64(ns) >= worthAsking*float64(a.run()) }

// mostWaited is how long the rank waited that waited longest in some ways.
func (a *search) mostWaited(kinds ...waitstate.Kind) int64 {
	most := int64(0)
	for i := range a.forward.tables {
		ns := int64(0)
		for p, t := range a.forward.tables[i].places {
			if slices.Contains(kinds, p.kind) {
				ns += t.ns
			}
		}
		most = max(most, ns)
	}
	return most
}

// lateReceivers: sends wait for nobody.
func (a *search) lateReceivers() *hypothesis {
	late, away := a.forward.kinds[waitstate.LateReceiver], a.forward.kinds[waitstate.LateProgress]
	if !a.isWorthIt(a.mostWaited(waitstate.LateReceiver, waitstate.LateProgress)) {
		return nil
	}
	set, where := a.waitedFor(waitstate.LateReceiver, waitstate.LateProgress)
	h := hypothesis{width: ofMessages, change: change{buffered: true}, cause: a.causeOf(verdict.LateReceiver, set, where)}
	h.cause.Form = verdict.NotPosted
	if away.ns > late.ns {
		h.cause.Form = verdict.NotInside
	}
	a.countCalls(&h.cause, where)
	h.what = "no send waited for its receiver"
	h.assumes = "Every send ends at once: senders go on, and receivers find the messages when they come."
	return &h
}

// waitedFor is where ranks waited in some ways, and who was waited for, if few ranks were for most of it.
func (a *search) waitedFor(kinds ...waitstate.Kind) (set []worker, where activity) {
	causes, places := map[int]int64{}, map[activity]int64{}
	all := int64(0)
	for i := range a.forward.tables {
		t := &a.forward.tables[i]
		for p, tally := range t.partners {
			if slices.Contains(kinds, p.kind) {
				causes[a.locations[p.cause].Row] += tally.ns
				all += tally.ns
			}
		}
		for p, tally := range t.places {
			if slices.Contains(kinds, p.kind) {
				places[activity{function: p.function, site: p.site}] += tally.ns
			}
		}
	}
	most := int64(-1)
	for what, ns := range places {
		if ns > most || ns == most && what.less(where) {
			most, where = ns, what
		}
	}
	for row, ns := range causes {
		set = append(set, worker{row: row, useful: float64(ns)})
	}
	slices.SortFunc(set, func(x, y worker) int { return cmp.Or(cmp.Compare(y.useful, x.useful), cmp.Compare(x.row, y.row)) })
	sum := 0.0
	for i, w := range set {
		if sum += w.useful; sum >= mostOfWaiting*float64(all) {
			if float64(i+1) > mostRanks*float64(len(a.ranks)) {
				return nil, where
			}
			return set[:i+1], where
		}
	}
	return nil, where
}

// isBetween reports whether a call is neither MPI_Init nor MPI_Finalize.
func (a *search) isBetween(function uint16, _ uint32) bool {
	return a.names.kindOfCall(function) != verdict.Nobody
}

// ownCost: calls of a kind cost nothing but what they wait for others. Of messages and collectives it is those at the costliest
// call site and at those like it: what is small costs by how often it is called, what is large by how long each call takes.
// Calls of little data that take long because they wait for a CPU are no cause.
func (a *search) ownCost(kind verdict.Kind) *hypothesis {
	var where activity
	most := int64(-1)
	for what, t := range a.total {
		if what.computes() || a.names.kindOfCall(what.function) != kind {
			continue
		}
		if own := t.ns - t.waited; own > most || own == most && what.less(where) {
			most, where = own, what
		}
	}
	if !a.isWorthIt(a.longestIn(kind)) {
		return nil
	}
	h := hypothesis{width: ofCalls, cause: a.causeOf(kind, nil, where)}
	h.cause.EachSeconds = inSeconds(most) / float64(max(1, a.total[where].count))
	a.countCalls(&h.cause, where)
	h.assumes = "The calls themselves take no time; they still wait for other ranks."
	switch kind {
	case verdict.Messages:
		h.cause.Form, h.cause.Estimate = verdict.TooMany, true // some have to stay
	case verdict.Collectives:
		h.cause.Form, h.cause.Estimate = verdict.TooOften, true
	}
	if h.cause.Form != "" && h.cause.Bytes >= smallMessage {
		h.cause.Form, h.cause.Estimate = verdict.TooLarge, false
	}
	if kind == verdict.Messages && a.crossNodes() {
		h.cause.Kind = verdict.Network
	}
	free := a.like(where, &h.cause)
	if (h.cause.Form == verdict.TooMany || h.cause.Form == verdict.TooOften) && a.areDelayed(where) {
		return nil
	}
	h.change = change{free: func(function uint16, site uint32) bool { return free[activity{function: function, site: site}] }}
	switch n := len(free) - 1; {
	case h.cause.Kind == verdict.Network:
		h.what = "messages cost nothing"
	case kind == verdict.IO:
		h.what = "files cost nothing"
	case n == 0:
		h.what = h.cause.Before.At() + " cost nothing"
	default:
		h.what = fmt.Sprintf("%s and %s cost nothing", h.cause.Before.At(), wording.Count(n, "call site like it", "call sites like it"))
	}
	return &h
}

// like are the call sites that a cause is about whose costliest one is known: of small messages and collectives those that are
// called at least half as often, of large ones those where a call takes at least half as long, and otherwise all of its kind.
func (a *search) like(costliest activity, c *verdict.Cause) map[activity]bool {
	kind, is := a.names.kindOfCall(costliest.function), map[activity]bool{}
	own := func(t *tally) float64 { return float64(t.ns-t.waited) / float64(max(1, t.count)) }
	of := a.total[costliest]
	for what, t := range a.total {
		if what.computes() || a.names.kindOfCall(what.function) != kind {
			continue
		}
		like := true
		switch {
		case c.Kind == verdict.Network:
		case c.Form == verdict.TooMany, c.Form == verdict.TooOften:
			like = 2*t.count >= of.count
		case c.Form == verdict.TooLarge:
			like = 2*own(t) >= own(of)
		}
		if like {
			is[what] = true
		}
	}
	return is
}

// areDelayed reports whether waiting for a CPU explains what calls took for themselves: they usually take long, and of those
// that were measured most of the time is run delay.
func (a *search) areDelayed(calls activity) bool {
	t, d := a.total[calls], a.delayedCalls[calls]
	return d.wall > 0 && float64(t.ns-t.waited) >= longCall*float64(t.count) && float64(d.delayed) >= mostDelayed*float64(d.wall)
}

// longestIn is how long calls of a kind took the rank that they took longest, without what it waited.
func (a *search) longestIn(kind verdict.Kind) int64 {
	most := int64(0)
	for _, i := range a.mainOf {
		if i < 0 {
			continue
		}
		ns := int64(0)
		for what, t := range a.each[i].tallies {
			if !what.computes() && a.names.kindOfCall(what.function) == kind {
				ns += t.ns - t.waited
			}
		}
		most = max(most, ns)
	}
	return most
}

// countCalls says how many calls a call site has, and how many bytes each.
func (a *search) countCalls(c *verdict.Cause, where activity) {
	if t := a.total[where]; t != nil {
		c.Calls = t.count
	}
	bytes, calls := uint64(0), uint64(0)
	for _, cell := range a.profile.Cells {
		if cell.Function == a.names.function(where.function) && cell.Bytes > 0 {
			bytes, calls = bytes+cell.Bytes, calls+cell.Calls
		}
	}
	if calls > 0 {
		c.Bytes = float64(bytes) / float64(calls)
	}
}

// crossNodes reports whether most bytes or messages go from one node to another.
func (a *search) crossNodes() bool {
	m := &a.profile.Matrix
	nodes := map[int]string{}
	for i := range a.ranks {
		nodes[a.ranks[i].Rank] = nodeOf(&a.ranks[i])
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

// oneAfterTheOther: no rank waits for another's message. What counts is what is left with equal work and an ideal network,
// for what then keeps ranks waiting is their order alone.
func (a *search) oneAfterTheOther() *hypothesis {
	kinds := []waitstate.Kind{waitstate.LateSender, waitstate.WaitAtNxN, waitstate.WaitAtBarrier, waitstate.LateBroadcast, waitstate.EarlyReduce, waitstate.EarlyScan, waitstate.WaitAtNeighbors, waitstate.LatePost, waitstate.EarlyWait, waitstate.LockContention}
	if !a.isWorthIt(a.mostWaited(kinds...)) {
		return nil
	}
	_, where := a.waitedFor(kinds...)
	if a.isWorthIt(a.mostWaited(waitstate.LateSender)) {
		_, where = a.waitedFor(waitstate.LateSender)
	}
	h := hypothesis{width: ofAll, cause: a.causeOf(verdict.Serialization, nil, where)}
	h.change = change{ignores: a.isBetween}
	h.cause.AtOnce, h.cause.Form, h.cause.Estimate = a.concurrency(), a.chainOrPipeline(where), true
	a.countCalls(&h.cause, where)
	part := 1.0
	h.what = "no rank waited for another"
	h.assumes = "An estimate of what the order costs: each rank goes on with what it has, and all compute at once."
	if h.cause.Form == verdict.Pipeline {
		part -= 1.0 / finer
		h.what = fmt.Sprintf("the pipeline was filled %d times as fast", finer)
		h.assumes = fmt.Sprintf("An estimate of what filling it costs: blocks are 1/%d as large, so each rank waits 1/%d as long for its first one.", finer, finer)
	}
	h.doubt = func(h *hypothesis, p *played) bool {
		inOrder := int64(part * float64(p.even-p.alone))
		h.length = max(h.length, a.run()-inOrder) // the rest is unequal work, or messages
		return a.share(inOrder) < minGain[verdict.Serialization]
	}
	return &h
}

// chainOrPipeline is which of the two a call that ranks wait in belongs to: in a chain a rank waits each time, in a pipeline
// until it is filled and hardly afterwards.
func (a *search) chainOrPipeline(where activity) verdict.Form {
	var evenness []float64 // by location: mean wait over the longest
	for i := range a.forward.tables {
		t := a.each[i].tallies[where]
		if t == nil || t.count < minLong {
			continue
		}
		sum, longest := int64(0), int64(0)
		for p, tally := range a.forward.tables[i].places {
			if p.function == where.function && p.site == where.site {
				sum, longest = sum+tally.ns, max(longest, tally.longest)
			}
		}
		if longest > 0 {
			evenness = append(evenness, float64(sum)/float64(t.count)/float64(longest))
		}
	}
	slices.Sort(evenness)
	if n := len(evenness); n > 0 && evenness[n/2] >= eachTimeAlike {
		return verdict.Chain
	}
	return verdict.Pipeline
}

// concurrency is how many ranks compute at once, on average over the part of the run between start and end.
func (a *search) concurrency() float64 {
	sum := int64(0)
	for _, i := range a.mainOf {
		if i >= 0 {
			sum += a.each[i].compute
		}
	}
	return float64(sum) / float64(max(1, a.run()-a.startAndEnd()))
}

// startAndEnd is how long the path is in MPI_Init and MPI_Finalize.
func (a *search) startAndEnd() (ns int64) {
	for what, t := range a.total {
		if a.names.startsOrEnds(what) {
			ns += t.path
		}
	}
	return ns
}

// lateStart is that ranks come to MPI_Init long after the others.
func (a *search) lateStart() *hypothesis {
	var starts []worker
	for row, i := range a.mainOf {
		if i >= 0 && !a.extents[i].empty && a.extents[i].initialized {
			starts = append(starts, worker{row: row, useful: float64(a.extents[i].start - a.start)})
		}
	}
	if len(starts) < 2 {
		return nil
	}
	slices.SortFunc(starts, func(x, y worker) int { return cmp.Or(cmp.Compare(y.useful, x.useful), cmp.Compare(x.row, y.row)) })
	for g := 1; g <= max(1, int(fewRanks*float64(len(starts)))); g++ {
		last, others := starts[g-1].useful, starts[g].useful
		if a.share(int64(last-others)) >= minGain[verdict.StartEnd] && last >= lateStart*max(others, 1) {
			h := hypothesis{width: oneRegion, cause: a.causeOf(verdict.StartEnd, starts[:g], activity{}), estimated: int64(starts[0].useful - others)}
			h.cause.Form, h.cause.EachSeconds = verdict.Start, (starts[0].useful-others)/1e9
			h.what = fmt.Sprintf("%s came to MPI_Init with the others", h.cause.Who())
			h.assumes = "An estimate: all wait in MPI_Init until the last one is there."
			return &h
		}
	}
	return nil
}

// tracing is what the tracer itself took.
func (a *search) tracing() *hypothesis {
	held := int64(0)
	for i := range a.each {
		held += a.each[i].held
	}
	if !a.isWorthIt(held / int64(max(1, len(a.each)))) {
		return nil
	}
	h := hypothesis{width: ofAll, cause: verdict.Cause{Kind: verdict.Tracer}, estimated: held / int64(max(1, len(a.each)))}
	h.what, h.assumes = "the tracer took no time", "An estimate: what it kept each thread for, on average."
	return &h
}
