package causes

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// Time lost in calls and around them: late receivers, messages, collectives, files, ranks that
// compute one after the other, the start, the CPUs, the tracer.
const (
	smallMessage    = 8 << 10 // bytes: smaller messages cost per message, not per byte
	worthAsking     = 0.02    // of the run that a rank spends on the subject of a hypothesis
	minWaitingShare = 0.9     // of the waiting that is caused by some ranks, for these to be named,
	maxRanks        = 0.6     // provided that they are at most this fraction of all ranks
	eachTimeAlike   = 0.6     // of the longest wait: the minimum of the mean wait in a chain
	lateStart       = 3.0     // times the usual distance between starts
	longCall        = 500_000 // ns, on average: calls that are mostly long enough to be measured
	minDelayed      = 0.75    // of the measured time of calls that wait for a CPU rather than for anything else
	finer           = 8       // times as many blocks in a pipeline: a division that programs can do
)

// callHypotheses returns the hypotheses about calls.
func (a *search) callHypotheses() []Hypothesis {
	var list []Hypothesis
	for _, h := range []*Hypothesis{
		a.lateReceivers(), a.ownCost(verdict.Messages), a.ownCost(verdict.Collectives), a.ownCost(verdict.IO), a.oneAfterTheOther(),
		a.lateStart(), a.fewCPUs(), a.limits(), a.tracing(),
	} {
		if h != nil {
			list = append(list, *h)
		}
	}
	return list
}

// isWorthIt reports whether ns of a rank are enough for a hypothesis.
func (a *search) isWorthIt(ns int64) bool { return float64(ns) >= worthAsking*float64(a.Run()) }

// longestWait returns the longest time that a rank spent in wait states of some kinds.
func (a *search) longestWait(kinds ...waitstate.Kind) int64 {
	most := int64(0)
	for i := range a.matched.Tables {
		ns := int64(0)
		for p, t := range a.matched.Tables[i].Sites {
			if slices.Contains(kinds, p.Kind) {
				ns += t.Ns
			}
		}
		most = max(most, ns)
	}
	return most
}

// lateReceivers assumes that sends do not wait.
func (a *search) lateReceivers() *Hypothesis {
	late, away := a.matched.Kinds[waitstate.LateReceiver], a.matched.Kinds[waitstate.LateProgress]
	if !a.isWorthIt(a.longestWait(waitstate.LateReceiver, waitstate.LateProgress)) {
		return nil
	}
	set, where := a.waitedFor(waitstate.LateReceiver, waitstate.LateProgress)
	h := Hypothesis{width: ofMessages, change: change{buffered: true}, Cause: a.causeOf(verdict.LateReceiver, set, where)}
	h.Cause.Form = verdict.NotPosted
	if away.Ns > late.Ns {
		h.Cause.Form = verdict.NotInside
	}
	a.countCalls(&h.Cause, where)
	h.What = "no send waited for its receiver"
	h.Assumes = "Every send ends at once: senders go on, and receivers find the messages when they come."
	return &h
}

// waitedFor returns the call site with the most waiting of some kinds, and the ranks that were
// waited for if few of them caused most of it.
func (a *search) waitedFor(kinds ...waitstate.Kind) (set []worker, where accounts.Activity) {
	causes, sites := map[int]int64{}, map[accounts.Activity]int64{}
	all := int64(0)
	for i := range a.matched.Tables {
		t := &a.matched.Tables[i]
		for p, tally := range t.Partners {
			if slices.Contains(kinds, p.Kind) {
				causes[a.Locations[p.Cause].Row] += tally.Ns
				all += tally.Ns
			}
		}
		for p, tally := range t.Sites {
			if slices.Contains(kinds, p.Kind) {
				sites[accounts.Activity{Function: p.Function, Site: p.Site}] += tally.Ns
			}
		}
	}
	most := int64(-1)
	for what, ns := range sites {
		if ns > most || ns == most && what.Less(where) {
			most, where = ns, what
		}
	}
	for row, ns := range causes {
		set = append(set, worker{row: row, useful: float64(ns)})
	}
	slices.SortFunc(set, func(x, y worker) int { return cmp.Or(cmp.Compare(y.useful, x.useful), cmp.Compare(x.row, y.row)) })
	sum := 0.0
	for i, w := range set {
		if sum += w.useful; sum >= minWaitingShare*float64(all) {
			if float64(i+1) > maxRanks*float64(len(a.Ranks)) {
				return nil, where
			}
			return set[:i+1], where
		}
	}
	return nil, where
}

// isBetween reports whether a call belongs neither to the start of MPI nor to its end.
func (a *search) isBetween(function uint16, _ uint32) bool {
	return a.Names.KindOfCall(function) != verdict.Nobody
}

// isAbout reports whether a cause of a kind may be about a call.
func (a *search) isAbout(kind verdict.Kind, function uint16) bool {
	return a.Names.KindOfCall(function) == kind && (kind != verdict.Messages || a.Names.Trace.Semantics(function).IsAboutMessages())
}

// ownCost assumes that calls of a kind take only the time that they wait for other ranks. For
// messages and collectives it is limited to the costliest call site and similar ones: small calls
// cost by their number, large ones by their duration. Small calls that take long because they wait
// for a CPU are not a cause.
func (a *search) ownCost(kind verdict.Kind) *Hypothesis {
	var where accounts.Activity
	most := int64(-1)
	for what, t := range a.Total {
		if what.Computes() || !a.isAbout(kind, what.Function) {
			continue
		}
		if own := t.Ns - t.Waited; own > most || own == most && what.Less(where) {
			most, where = own, what
		}
	}
	if !a.isWorthIt(a.longestIn(kind)) {
		return nil
	}
	h := Hypothesis{width: ofCalls, Cause: a.causeOf(kind, nil, where)}
	h.Cause.EachSeconds = accounts.Seconds(most) / float64(max(1, a.Total[where].Count))
	a.countCalls(&h.Cause, where)
	h.Assumes = "The calls themselves take no time; they still wait for other ranks."
	switch kind {
	case verdict.Messages:
		h.Cause.Form, h.Cause.Estimate = verdict.TooMany, true // some calls are necessary
	case verdict.Collectives:
		h.Cause.Form, h.Cause.Estimate = verdict.TooOften, true
	}
	if h.Cause.Form != "" && h.Cause.Bytes >= smallMessage {
		h.Cause.Form, h.Cause.Estimate = verdict.TooLarge, false
	}
	if kind == verdict.Messages && a.crossNodes() {
		h.Cause.Kind = verdict.Network
	}
	free := a.like(where, &h.Cause)
	if (h.Cause.Form == verdict.TooMany || h.Cause.Form == verdict.TooOften) && a.areDelayed(where) {
		return nil
	}
	h.change = change{free: func(function uint16, site uint32) bool {
		return free[accounts.Activity{Function: function, Site: site}]
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
	return &h
}

// like returns the call sites that a cause includes in addition to its costliest one: for small
// messages and collectives those that are called at least half as often, for large ones those whose
// calls take at least half as long, otherwise all of its kind.
func (a *search) like(costliest accounts.Activity, c *verdict.Cause) map[accounts.Activity]bool {
	kind, is := a.Names.KindOfCall(costliest.Function), map[accounts.Activity]bool{}
	own := func(t *accounts.Tally) float64 { return float64(t.Ns-t.Waited) / float64(max(1, t.Count)) }
	of := a.Total[costliest]
	for what, t := range a.Total {
		if what.Computes() || !a.isAbout(kind, what.Function) {
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

// areDelayed reports whether waiting for a CPU explains the own time of calls: they usually take
// long, and most of their measured time is run delay.
func (a *search) areDelayed(calls accounts.Activity) bool {
	t, d := a.Total[calls], a.DelayedCalls[calls]
	return d.Wall > 0 && float64(t.Ns-t.Waited) >= longCall*float64(t.Count) && float64(d.Delayed) >= minDelayed*float64(d.Wall)
}

// longestIn returns the longest own time (without waiting) that a rank spent in calls of a kind.
func (a *search) longestIn(kind verdict.Kind) int64 {
	most := int64(0)
	for _, i := range a.MainOf {
		if i < 0 {
			continue
		}
		ns := int64(0)
		for what, t := range a.Each[i].Tallies {
			if !what.Computes() && a.isAbout(kind, what.Function) {
				ns += t.Ns - t.Waited
			}
		}
		most = max(most, ns)
	}
	return most
}

// countCalls sets the number of calls of a call site and their mean size in bytes.
func (a *search) countCalls(c *verdict.Cause, where accounts.Activity) {
	if t := a.Total[where]; t != nil {
		c.Calls = t.Count
	}
	bytes, calls := uint64(0), uint64(0)
	for _, cell := range a.profile.Cells {
		if cell.Function == a.Names.Function(where.Function) && cell.Bytes > 0 {
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
	for i := range a.Ranks {
		nodes[a.Ranks[i].Rank] = accounts.NodeOf(&a.Ranks[i])
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

// oneAfterTheOther assumes that no rank waits for another's message. It counts what remains with
// equal work and an ideal network, because then only the order of the ranks makes them wait.
func (a *search) oneAfterTheOther() *Hypothesis {
	kinds := []waitstate.Kind{waitstate.LateSender, waitstate.WaitAtNxN, waitstate.WaitAtBarrier, waitstate.LateBroadcast, waitstate.EarlyReduce, waitstate.EarlyScan, waitstate.WaitAtNeighbors, waitstate.LatePost, waitstate.EarlyWait, waitstate.LockContention}
	if !a.isWorthIt(a.longestWait(kinds...)) {
		return nil
	}
	_, where := a.waitedFor(kinds...)
	if a.isWorthIt(a.longestWait(waitstate.LateSender)) {
		_, where = a.waitedFor(waitstate.LateSender)
	}
	h := Hypothesis{width: ofAll, Cause: a.causeOf(verdict.Serialization, nil, where)}
	h.change = change{ignores: a.isBetween}
	h.Cause.AtOnce, h.Cause.Form, h.Cause.Estimate = a.concurrency(), a.chainOrPipeline(where), true
	a.countCalls(&h.Cause, where)
	part := 1.0
	h.What = "no rank waited for another"
	h.Assumes = "An estimate of what the order costs: each rank goes on with what it has, and all compute at once."
	if h.Cause.Form == verdict.Pipeline {
		part -= 1.0 / finer
		h.What = fmt.Sprintf("the pipeline was filled %d times as fast", finer)
		h.Assumes = fmt.Sprintf("An estimate of what filling it costs: blocks are 1/%d as large, so each rank waits 1/%d as long for its first one.", finer, finer)
	}
	h.doubt = func(h *Hypothesis, p *played) bool {
		inOrder := int64(part * float64(p.even-p.alone))
		h.length = max(h.length, a.Run()-inOrder) // the rest is due to unequal work or messages
		return a.Share(inOrder) < minGain[verdict.Serialization]
	}
	return &h
}

// chainOrPipeline returns which of the two a call with waits belongs to: in a chain a rank waits in
// each call, in a pipeline mostly until it is filled.
func (a *search) chainOrPipeline(where accounts.Activity) verdict.Form {
	var evenness []float64 // by location: mean wait over the longest
	for i := range a.matched.Tables {
		t := a.Each[i].Tallies[where]
		if t == nil || t.Count < minLong {
			continue
		}
		sum, longest := int64(0), int64(0)
		for p, tally := range a.matched.Tables[i].Sites {
			if p.Function == where.Function && p.Site == where.Site {
				sum, longest = sum+tally.Ns, max(longest, tally.Longest)
			}
		}
		if longest > 0 {
			evenness = append(evenness, float64(sum)/float64(t.Count)/float64(longest))
		}
	}
	slices.Sort(evenness)
	if n := len(evenness); n > 0 && evenness[n/2] >= eachTimeAlike {
		return verdict.Chain
	}
	return verdict.Pipeline
}

// concurrency returns the average number of ranks that compute at the same time, without start and
// end of the run.
func (a *search) concurrency() float64 {
	sum := int64(0)
	for _, i := range a.MainOf {
		if i >= 0 {
			sum += a.Each[i].Compute
		}
	}
	return float64(sum) / float64(max(1, a.Run()-a.startAndEnd()))
}

// startAndEnd returns the time of the path in MPI_Init and MPI_Finalize.
func (a *search) startAndEnd() (ns int64) {
	for what, t := range a.Total {
		if a.Names.StartsOrEnds(what) {
			ns += t.Path
		}
	}
	return ns
}

// lateStart assumes that ranks that enter MPI_Init long after the others enter it with them.
func (a *search) lateStart() *Hypothesis {
	var starts []worker
	for row, i := range a.MainOf {
		if i >= 0 && !a.Extents[i].Empty && a.Extents[i].Initialized {
			starts = append(starts, worker{row: row, useful: float64(a.Extents[i].Start - a.Start)})
		}
	}
	if len(starts) < 2 {
		return nil
	}
	slices.SortFunc(starts, func(x, y worker) int { return cmp.Or(cmp.Compare(y.useful, x.useful), cmp.Compare(x.row, y.row)) })
	for g := 1; g <= max(1, int(fewRanks*float64(len(starts)))); g++ {
		last, others := starts[g-1].useful, starts[g].useful
		if a.Share(int64(last-others)) >= minGain[verdict.StartEnd] && last >= lateStart*max(others, 1) {
			h := Hypothesis{width: oneRegion, Cause: a.causeOf(verdict.StartEnd, starts[:g], accounts.Activity{}), estimated: int64(starts[0].useful - others)}
			h.Cause.Form, h.Cause.EachSeconds = verdict.Start, (starts[0].useful-others)/1e9
			h.What = fmt.Sprintf("%s came to MPI_Init with the others", h.Cause.Who())
			h.Assumes = "An estimate: all wait in MPI_Init until the last one is there."
			return &h
		}
	}
	return nil
}

// tracing assumes that the tracer has no overhead.
func (a *search) tracing() *Hypothesis {
	overhead := int64(0)
	for i := range a.Each {
		overhead += a.Each[i].Overhead
	}
	if !a.isWorthIt(overhead / int64(max(1, len(a.Each)))) {
		return nil
	}
	h := Hypothesis{width: ofAll, Cause: verdict.Cause{Kind: verdict.Tracer}, estimated: overhead / int64(max(1, len(a.Each)))}
	h.What, h.Assumes = "the tracer took no time", "An estimate: what it kept each thread for, on average."
	return &h
}
