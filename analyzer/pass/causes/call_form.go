package causes

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/profile"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// Why calls cost what they do: by their number, by the size of what they complete, or because what
// was started early is completed in them.

// countCalls sets the number of calls of a call site, and the mean size of what they complete or,
// if they complete nothing, of the data that they move. It reports whether that size is known.
func countCalls(e *evidence, c *verdict.Cause, where accounts.Activity) (sized bool) {
	if t := e.Total[where]; t != nil {
		c.Calls = t.Count
	}
	if done := e.Completed(where); done != nil {
		if c.Completes = done.AreStarted(); c.Completes {
			c.AheadSeconds = done.MeanAhead() / 1e9
		}
		c.Bytes, sized = done.MeanBytes()
		return sized
	}
	bytes, calls := uint64(0), uint64(0)
	function, site := e.Names.Function(where.Function), e.Names.Site(where.Site)
	for _, cell := range e.profile.Cells {
		if cell.Function == function && cell.CallSite == site && cell.Bytes > 0 {
			bytes, calls = bytes+cell.Bytes, calls+cell.Calls
		}
	}
	c.Bytes = float64(bytes) / float64(max(1, calls))
	return calls > 0
}

// setPieces sets of how many bytes the contiguous pieces of large messages are, if they are small.
// A wait has those of the calls that started what it completes.
func setPieces(e *evidence, c *verdict.Cause, where accounts.Activity) {
	starts := []eventlog.CallSite{{Function: where.Function, Site: where.Site}}
	if done := e.Completed(where); done != nil && done.AreStarted() {
		starts = done.Starts
	}
	var l profile.Layout
	calls := uint64(0)
	for _, at := range starts {
		l.Add(e.profile.Layouts[profile.CallSite{Function: e.Names.Function(at.Function), CallSite: e.Names.Site(at.Site)}])
		if t := e.Total[accounts.Activity{Function: at.Function, Site: at.Site}]; t != nil {
			calls += t.Count
		}
	}
	if c.Bytes < smallMessage || 2*l.Calls < calls || l.Blocks < manyPieces*l.Calls {
		return
	}
	if each := float64(l.Bytes) / float64(l.Blocks); each < smallPiece {
		c.PieceBytes = each
	}
}

// formOfCalls returns why the calls of a cause, at its call site, cost what they do. sized reports
// whether c.Bytes is known.
func formOfCalls(e *evidence, c *verdict.Cause, where accounts.Activity, sized bool) verdict.Form {
	switch {
	case e.Names.Trace.Semantics(where.Function).CopiesData():
		return verdict.Copies
	case c.Kind != verdict.Messages && c.Kind != verdict.Collectives:
		return verdict.NoForm
	case c.PieceBytes > 0: // MPI copies them one by one, inside its calls
		return verdict.TooLarge
	case unhidden(e, where) < 1:
		return verdict.NoOverlap
	case c.Bytes >= smallMessage:
		return verdict.TooLarge
	case takeLong(e, where) && hasOwnOperation(e, where):
		return verdict.OwnOp
	case !areMany(e, where), takeLong(e, where), c.Kind == verdict.Messages && !sized:
		return verdict.NoForm
	case c.Kind == verdict.Messages:
		return verdict.TooMany
	}
	switch e.Names.Trace.Semantics(where.Function).Operation {
	case semantics.CommunicatorCreate, semantics.CommunicatorFree, semantics.WindowCreate, semantics.WindowFree:
		return verdict.Creation
	}
	return verdict.TooOften
}

// takeLong reports whether calls of little data take too long for their number, or that of the
// messages that they complete, to be the reason.
func takeLong(e *evidence, where accounts.Activity) bool {
	t := e.Total[where]
	operations := t.Count
	if done := e.Completed(where); done != nil {
		operations = max(operations, done.Messages+done.Collectives)
	}
	return float64(e.costOf(where)) >= longSmall*float64(operations)
}

// hasOwnOperation reports whether all calls of a call site reduce with an operation of the program,
// not of MPI.
func hasOwnOperation(e *evidence, where accounts.Activity) bool {
	at, is := e.Names.Trace.Semantics(where.Function).In[semantics.Operator], false
	if at < 0 {
		return false
	}
	signatures := e.Names.Trace.Signatures()
	for i := range signatures {
		s := &signatures[i]
		if s.Function != where.Function || s.Site != where.Site {
			continue
		}
		if int(at) >= len(s.In) || s.In[at].Form != trace.Handle {
			return false
		}
		is = true
	}
	return is
}

// areMany reports whether a rank calls a call site often.
func areMany(e *evidence, where accounts.Activity) bool {
	for _, i := range e.MainOf {
		if i < 0 {
			continue
		}
		if t := e.Each[i].Tallies[where]; t != nil && t.Count >= manyCalls {
			return true
		}
	}
	return false
}

// unhidden returns the fraction of their own time that the calls of a call site would take if what
// they complete proceeded from its start on; 1 if it was not started early enough to matter. Small
// messages are excluded: the library has sent them at their start. So are tests, with which the
// program makes what it has started proceed.
func unhidden(e *evidence, where accounts.Activity) float64 {
	done := e.Completed(where)
	if done == nil || !done.AreStarted() || e.Names.Trace.Semantics(where.Function).Polls {
		return 1
	}
	bytes, _ := done.MeanBytes()
	ahead, each := done.MeanAhead(), ownEach(e.Total[where])
	if ahead < explains*each || !done.AreCollectives() && bytes < smallMessage {
		return 1
	}
	return 1 - min(1, ahead/max(1, each))
}

// ownEach returns the mean time of calls without waiting for other ranks, in ns.
func ownEach(t *accounts.Tally) float64 { return float64(t.Own()) / float64(max(1, t.Count)) }

// remains returns the call sites that a cause is about, each with the fraction of its own time that
// remains without the cause. They are the costliest one and similar ones: where calls are too many,
// those that are called at least half as often, otherwise those whose calls take at least half as
// long; of files, local calls and the network, all. The time between polls remains.
func remains(e *evidence, costliest accounts.Activity, c *verdict.Cause) map[accounts.Activity]float64 {
	kind, left := e.KindOfCall(costliest), map[accounts.Activity]float64{}
	of := e.Total[costliest]
	for what, t := range e.Total {
		if !isAbout(e, kind, what) {
			continue
		}
		like, part := true, float64(t.Late())/float64(max(1, t.Ns-t.Waited))
		switch {
		case c.Kind != verdict.Messages && c.Kind != verdict.Collectives:
		case c.Form == verdict.TooMany, c.Form == verdict.TooOften, c.Form == verdict.Creation:
			like = 2*t.Count >= of.Count
		default:
			like = 2*ownEach(t) >= ownEach(of)
		}
		if c.Form == verdict.NoOverlap {
			part = unhidden(e, what) // no polls
			like = like && part < 1
		}
		if like {
			left[what] = part
		}
	}
	return left
}

// whatCosts names the calls of a cause and the number of other call sites like theirs, for the
// table of what-ifs.
func whatCosts(c *verdict.Cause, others int) string {
	cost := " cost nothing"
	switch {
	case c.OthersSeconds != nil:
		cost = " took no longer than usual"
	case c.Form == verdict.NoOverlap:
		cost = " overlapped with computation"
	case c.Kind == verdict.Network:
		return "messages cost nothing"
	case c.Kind == verdict.IO:
		return "files cost nothing"
	case c.Kind == verdict.Local:
		return "local MPI calls cost nothing"
	}
	what := c.Before.At()
	if others > 0 {
		what += " and " + wording.Count(others, "call site like it", "call sites like it")
	}
	return fmt.Sprint(what, cost)
}
