package stopped

import (
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// polls are the different unsuccessful tests that the calls of a location end with. A loop may test
// for several things in turn.
type polls struct {
	tests []*timeline.Call
	many  bool // there are more than maxTests
}

// maxTests is the number of different tests that are kept.
const maxTests = 64

// see adds a call of the location.
func (p *polls) see(c *timeline.Call) {
	switch polling.Of(c.Event) {
	case polling.Missed:
		if slices.ContainsFunc(p.tests, func(o *timeline.Call) bool { return alike(o.Event, c.Event) }) {
			return
		}
		if p.many = len(p.tests) == maxTests; p.many {
			return
		}
		kept := *c
		kept.Event = timeline.Keep(c.Event)
		p.tests = append(p.tests, &kept)
	case polling.None, polling.Hit:
		p.tests, p.many = nil, false
	case polling.Aside, polling.Idle:
	}
}

// alike reports whether two calls ask for the same.
func alike(a, b *trace.Event) bool {
	return a.Function.ID == b.Function.ID && a.Comm == b.Comm && slices.EqualFunc(a.In, b.In, equal)
}

func equal(a, b trace.Value) bool {
	return a.Form == b.Form && a.Int == b.Int && a.Text == b.Text && slices.EqualFunc(a.List, b.List, equal)
}

// Polled implements match.Poller.
func (l *listener) Polled() (tests []*timeline.Call) {
	for i := range l.polls {
		if p := &l.polls[i]; !p.many {
			tests = append(tests, p.tests...)
		}
	}
	return tests
}

// Tested implements match.Poller.
func (l *listener) Tested(tests []match.Unreturned) { l.tested = tests }

// addPolls takes polling as an open call: of a main thread that has polled for longEnough until its
// end. What it polled for is all that its tests waited for. If it made several, any of them could
// go on.
func (o *observation) addPolls(locations []timeline.Location, tested []match.Unreturned) {
	for i := range tested {
		t := &tested[i]
		l := locations[t.Location]
		s := &o.states[l.Row]
		if l.Main != t.Location || !s.attempt.On || s.died-s.attempt.Since < longEnough || s.died-s.last.exit >= longEnough {
			continue
		}
		if !s.polls {
			s.polls, s.open = true, t
			s.open.Enter = s.attempt.Since
			continue
		}
		s.open.Any = true
		s.open.Waits = append(s.open.Waits, t.Waits...)
	}
}
