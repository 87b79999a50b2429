package match

import (
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// PollGap is up to how far apart, in nanoseconds, polls belong to one attempt: a rank that asks again that soon does
// nothing else meanwhile. One that computes longer between polls overlaps, which is no waiting.
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

// Polls tells polls apart.
type Polls struct {
	plans []pollPlan
}

type pollPlan struct {
	known       bool
	poll, aside bool
	flag, count int
}

// Of says what kind of poll a call is.
func (p *Polls) Of(e *trace.Event) Poll {
	for int(e.Function.ID) >= len(p.plans) {
		p.plans = append(p.plans, pollPlan{})
	}
	plan := &p.plans[e.Function.ID]
	if !plan.known {
		*plan = newPollPlan(e.Function)
	}
	return plan.of(e)
}

func (plan *pollPlan) of(e *trace.Event) Poll {
	switch {
	case plan.aside:
		return Aside
	case !plan.poll:
		return NoPoll
	case plan.flag >= 0 && number(argument(e.Out, plan.flag)) > 0:
		return Hit
	case plan.flag < 0 && number(argument(e.Out, plan.count)) != 0:
		return Hit // MPI_Testsome; also when there is nothing to ask for
	}
	return Missed
}

func newPollPlan(f *trace.Function) pollPlan {
	op, _, _ := strings.Cut(f.Class, " ")
	full := newPlan(f)
	p := pollPlan{known: true, flag: full.flag, count: full.count}
	p.poll = full.test && (full.flag >= 0 || full.count >= 0) || full.action == pollProbe
	p.aside = op == "time" || op == "query" || op == "status"
	return p
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
	case a.On && c.Enter-a.last > PollGap:
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
