package polling

import (
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// MaxGap is up to how far apart, in nanoseconds, polls belong to one attempt whatever is known of the rank: one that
// asks again that soon does nothing else meanwhile. What the tracer held the thread for does not count. Of longer gaps Gaps
// says whether the rank was idle in them.
const MaxGap = 100_000

// A Poll says whether a call is one that asks for completion without waiting for it.
type Poll uint8

// Kinds of polls.
const (
	None   Poll = iota
	Missed      // asked in vain
	Hit         // found something; also a blocking call that goes on where polls in vain left off
	Aside       // touches nobody else: it does not interrupt polling

	// Idle, a bit besides, says that the rank was idle since the poll in vain before, although that is longer ago than
	// MaxGap: see Gaps. No None has it.
	Idle Poll = 1 << 2

	kinds = Idle - 1
)

// Kind is the kind alone.
func (p Poll) Kind() Poll { return p & kinds }

// Of says what kind of poll a call is by itself.
func Of(e *trace.Event) Poll {
	f := e.Semantics
	switch {
	case f.Polls:
		if flag := f.Out[semantics.Flag]; flag >= 0 {
			return found(result(e, int(flag)) > 0)
		}
		// MPI_Testsome; it also finds that there is nothing to ask for
		return found(result(e, int(f.Out[semantics.OutCount])) != 0)
	case f.IsLocalQuery():
		return Aside
	}
	return None
}

// result is the i-th result of a call; −1 if it is none, or a name such as MPI_UNDEFINED.
func result(e *trace.Event, i int) int64 {
	if i < 0 || i >= len(e.Out) || e.Out[i].Form != trace.Int && e.Out[i].Form != trace.Handle {
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
	// Since is when the present attempt began; it counts only while On.
	Since int64
	On    bool
	last  int64
}

// See takes the next call of the location, which Gaps has seen, and returns since when the location has been polling, the
// call included.
func (a *Attempt) See(poll Poll, c *timeline.Record) (since int64, polling bool) {
	kind, idle := poll.Kind(), c.Enter-c.Held-a.last <= MaxGap || poll&Idle != 0
	switch {
	case kind == Aside:
		since, polling = a.Since, a.On && idle
		a.last += c.Held
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

// Skip leaves out calls that neither begin nor end an attempt, up to when the last of them ended.
func (a *Attempt) Skip(exit int64) { a.last = exit }

// blocks reports whether a call waits for what polls ask for.
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
