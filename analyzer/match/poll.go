package match

import (
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// PollGap is up to how far apart, in nanoseconds, polls belong to one attempt: a rank that asks again that soon does
// nothing else meanwhile. What the tracer held the thread for does not count. One that computes longer between polls overlaps, which is no waiting.
const PollGap = 100_000

// A Poll says whether a call is one that asks for completion without waiting for it.
type Poll uint8

// Kinds of polls.
const (
	NoPoll Poll = iota
	Missed      // asked in vain
	Hit
	Aside // touches nobody else: it does not interrupt polling
)

// PollOf says what kind of poll a call is.
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

// See takes the next call of the location, and tells since when it has been polling, the call included.
func (a *Attempt) See(kind Poll, c *timeline.Record) (since int64, polling bool) {
	switch {
	case kind == Aside:
		return 0, false
	case a.On && c.Enter-c.Held-a.last > PollGap:
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
