package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// lateReceivers are ranks that make senders wait.
type lateReceivers struct{}

// suggest assumes that sends do not wait.
func (lateReceivers) suggest(e *evidence) []Hypothesis {
	late, away := e.matched.Kinds[waitstate.LateReceiver], e.matched.Kinds[waitstate.LateProgress]
	if !e.isWorthIt(e.longestWait(waitstate.LateReceiver, waitstate.LateProgress)) {
		return nil
	}
	set, where := e.waitedFor(waitstate.LateReceiver, waitstate.LateProgress)
	h := Hypothesis{width: ofMessages, change: change{buffered: true}, Cause: e.causeOf(verdict.LateReceiver, set, where)}
	h.Cause.Form = verdict.NotPosted
	if away.Ns > late.Ns {
		h.Cause.Form = verdict.NotInside
	}
	countCalls(e, &h.Cause, where)
	h.What = "no send waited for its receiver"
	h.Assumes = "Every send ends at once: senders go on, and receivers find the messages when they come."
	return []Hypothesis{h}
}
