package match

import (
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// PollGap is up to how far apart, in nanoseconds, polls belong to one attempt whatever is known of the rank: one that
// asks again that soon does nothing else meanwhile. What the tracer held the thread for does not count. Of longer gaps Gaps
// says whether the rank was idle in them.
const PollGap = 100_000

// A Poll says whether a call is one that asks for completion without waiting for it.
type Poll uint8

// Kinds of polls.
const (
	NoPoll Poll = iota
	Missed      // asked in vain
	Hit         // found something; also a blocking call that goes on where polls in vain left off
	Aside       // touches nobody else: it does not interrupt polling

	// Idle, a bit besides, says that the rank was idle since the poll in vain before, although that is longer ago than
	// PollGap: see Gaps. No NoPoll has it.
	Idle Poll = 1 << 2

	kinds = Idle - 1
)

// Kind is the kind alone.
func (p Poll) Kind() Poll { return p & kinds }

// PollOf says what kind of poll a call is by itself.
func PollOf(e *trace.Event) Poll {
	f := e.Semantics
	switch {
	case f.Polls:
		if flag := f.Out[semantics.Flag]; flag >= 0 {
			return pollFound(number(argument(e.Out, int(flag))) > 0)
		}
		// MPI_Testsome; it also finds that there is nothing to ask for
		return pollFound(number(argument(e.Out, int(f.Out[semantics.OutCount]))) != 0)
	case f.IsLocalQuery():
		return Aside
	}
	return NoPoll
}

func pollFound(something bool) Poll {
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
	kind, idle := poll.Kind(), c.Enter-c.Held-a.last <= PollGap || poll&Idle != 0
	switch {
	case kind == Aside:
		since, polling = a.Since, a.On && idle
		a.last += c.Held
		return since, polling
	case !idle:
		a.On = false
	}
	since, polling = a.Since, a.On && kind != NoPoll
	switch kind {
	case Missed:
		if !a.On {
			a.On, a.Since = true, c.Enter
		}
	case NoPoll, Hit:
		a.On = false
	case Aside:
	}
	a.last = c.Exit
	return since, polling
}

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
