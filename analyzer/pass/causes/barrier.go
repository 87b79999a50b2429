package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// barriers are barriers in which ranks wait for whoever is last, again and again, although over the
// run they compute about equally long: without them a rank that is late once catches up later.
// Messages and collectives keep their order in any case. What other ranks write to files and
// windows does not, so programs with MPI's files and one-sided accesses may need each barrier.
type barriers struct{}

// suggest assumes that ranks do not wait in the barriers of one loop.
func (barriers) suggest(e *evidence) []Hypothesis {
	if e.cpus.AreLimited() || e.shared || ordersMemory(e) { // pauses have the same effect
		return nil
	}
	if e.isWorthIt(e.longestWait(waitstate.LateReceiver, waitstate.LateProgress)) {
		return nil // late receivers are what makes ranks wait
	}
	where, most := accounts.Activity{}, int64(-1)
	for what, t := range e.Total {
		if isBarrier(e, what) && (t.Waited > most || t.Waited == most && what.Less(where)) {
			where, most = what, t.Waited
		}
	}
	if most < 0 || !areMany(e, where) || !e.isWorthIt(most/int64(max(1, len(e.Ranks)))) {
		return nil
	}
	t, like := e.Total[where], map[accounts.Activity]bool{}
	for what, other := range e.Total {
		if isBarrier(e, what) && 2*other.Count >= t.Count { // it would make the ranks wait instead
			like[what] = true
		}
	}
	h := Hypothesis{width: allRegions, Cause: ofAllRanks(e, verdict.Collectives, verdict.Barrier, where)}
	h.Cause.Calls, h.Cause.EachSeconds = t.Count, accounts.Seconds(most)/float64(t.Count)
	if len(like) > 1 {
		h.Cause.Regions = len(like)
	}
	h.change = change{ignores: func(function uint16, site uint32) bool {
		return like[accounts.Activity{Function: function, Site: site}]
	}}
	h.doubt = func(h *Hypothesis, _ *played) bool { return e.Share(e.Run()-h.length) < minScatterGain }
	h.What = "no rank waited in " + h.Cause.Before.At()
	if n := len(like) - 1; n > 0 {
		h.What += " and " + wording.Count(n, "call site like it", "call sites like it")
	}
	h.Assumes = "Ranks go on without waiting there; messages and other collectives keep their order, and the calls their own cost."
	return []Hypothesis{h}
}

// isBarrier reports whether an activity is a call that only waits for all ranks.
func isBarrier(e *evidence, what accounts.Activity) bool {
	f := e.Names.Trace.Semantics(what.Function)
	return !what.Computes() && f != nil && f.Operation == semantics.Barrier && f.Completion == semantics.Blocking
}

// ordersMemory reports whether the program makes accesses that a barrier may have to order: to
// files, or to windows.
func ordersMemory(e *evidence) bool {
	for what := range e.Total {
		f := e.Names.Trace.Semantics(what.Function)
		if what.Computes() || f == nil {
			continue
		}
		switch f.Operation {
		case semantics.FileAccess, semantics.FileOpen, semantics.RemoteAccess, semantics.WindowCreate:
			return true
		}
	}
	return false
}
