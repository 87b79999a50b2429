package accounts

import (
	"github.com/cairn-mpi/cairn/analyzer/activity"
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// vain is the time since which a location has been in one call, or has polled without success. If
// the run ends there, it has waited for what never came.
type vain struct {
	attempt polling.Attempt
	since   int64
	end     int64
	time    map[Activity]int64 // in ns
}

// see adds a call of the location.
func (v *vain) see(c *timeline.Record, poll polling.Poll, step *activity.Step, call Activity) {
	v.attempt.See(poll, c)
	open := c.Signature.Return.Form == trace.Absent
	if open && kindOf(c.Semantics) != Communication && kindOf(c.Semantics) != Finalization {
		open = false
	}
	if !open && !v.attempt.On {
		if len(v.time) > 0 {
			v.time = nil
		}
		return
	}
	if v.since = v.attempt.Since; !v.attempt.On {
		v.since, v.time = c.Enter, nil
	}
	v.end = c.Exit
	if v.time == nil {
		v.time = map[Activity]int64{}
	}
	for _, span := range step.Spans() {
		if span.Kind == activity.Call || span.Kind == activity.Waiting {
			v.time[call] += span.To - span.From
		}
	}
}

// waitInVain accounts the time since the location's last progress as waiting.
func (a *Account) waitInVain() {
	for call, ns := range a.vain.time {
		t := a.tally(call)
		more := max(0, min(ns, t.Ns-t.Waited))
		t.Waited += more
		a.Waited += more
		a.Never += more
	}
	if a.stands = len(a.vain.time) > 0; a.stands {
		a.stoodAt = a.vain.since
		a.Strip.Wait.add(a.vain.since, a.vain.end)
	}
	a.vain = vain{}
}
