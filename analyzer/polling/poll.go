package polling

import (
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// MaxGap is the time, in nanoseconds, up to which successive polls belong to one attempt in any
// case: a rank that polls again so soon does nothing else in between. Tracer overhead does not
// count. For longer gaps, Gaps decides whether the rank was idle.
const MaxGap = 100_000

// A Poll is whether a call tests for completion without waiting for it.
type Poll uint8

// Kinds of polls.
const (
	None   Poll = iota
	Missed      // unsuccessful test
	Hit         // successful test; also a blocking call that follows unsuccessful tests
	Aside       // local call: it does not interrupt polling

	// Idle is an additional bit: the rank was idle since the previous unsuccessful test, although
	// that is longer ago than MaxGap; see Gaps. It is never set for None.
	Idle Poll = 1 << 2

	kinds = Idle - 1
)

// Kind returns the kind without Idle.
func (p Poll) Kind() Poll { return p & kinds }

// Of returns the kind of poll of a call by itself.
func Of(e *trace.Event) Poll {
	f := e.Semantics
	switch {
	case f.Polls:
		if flag := f.Out[semantics.Flag]; flag >= 0 {
			return found(result(e, int(flag)) > 0)
		}
		// MPI_Testsome; it also returns if there is nothing to test
		return found(result(e, int(f.Out[semantics.OutCount])) != 0)
	case f.IsLocalQuery():
		return Aside
	}
	return None
}

// result returns the i-th result of a call; −1 if it does not exist or is a name such as
// MPI_UNDEFINED.
func result(e *trace.Event, i int) int64 {
	if i < 0 || i >= len(e.Out) || e.Out[i].Form != trace.Int {
		return -1
	}
	return e.Out[i].Int
}

func found(something bool) Poll {
	if something {
		return Hit
	}
	return Missed
}

// An Attempt follows the polls of one location.
type Attempt struct {
	// Since is the start of the present attempt, valid only while On.
	Since int64
	On    bool
	last  int64
}

// See adds the next call of the location, with the result of Gaps, and returns since when the
// location has been polling, this call included.
func (a *Attempt) See(poll Poll, c *timeline.Record) (since int64, polling bool) {
	kind, idle := poll.Kind(), c.Enter-c.Overhead-a.last <= MaxGap || poll&Idle != 0
	switch {
	case kind == Aside:
		since, polling = a.Since, a.On && idle
		a.last += c.Overhead
		return since, polling
	case !idle:
		a.On = false
	}
	since, polling = a.Since, a.On && kind != None
	switch kind {
	case Missed:
		if !a.On {
			a.On, a.Since = true, c.Enter
		}
	case None, Hit:
		a.On = false
	case Aside:
	}
	a.last = c.Exit
	return since, polling
}

// Skip skips calls that neither begin nor end an attempt; exit is the exit of the last of them.
func (a *Attempt) Skip(exit int64) { a.last = exit }

// blocks reports whether a call waits for what polls test.
func blocks(f *semantics.Function) bool {
	if f.Polls {
		return false
	}
	switch f.Operation {
	case semantics.Receive, semantics.MatchedReceive:
		return f.Completion == semantics.Blocking
	case semantics.Probe, semantics.MatchedProbe, semantics.Wait, semantics.WaitAny, semantics.WaitSome, semantics.WaitAll:
		return true
	case semantics.WindowSynchronize:
		return f.Synchronization == semantics.SyncWait
	}
	return false
}
