package parquet

import (
	"context"
	"errors"

	"github.com/cairn-mpi/cairn/analyzer/export/causality"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// matched writes the tables of messages and waits in one pass of matching, and records how long
// each call waited.
func (e *export) matched(ctx context.Context, waited *waited) error {
	messages, err := newTable[messageRow](&e.to, "messages")
	if err != nil {
		return err
	}
	waits, err := newTable[waitRow](&e.to, "waits")
	if err != nil {
		return err
	}
	h := &matching{export: e, messages: messages, waits: waits, waited: waited}
	for i := range e.locations {
		h.times = append(h.times, e.times(i))
	}
	finder := waitstate.NewFinder(e.trace, h.found)
	if _, err := match.InSections(ctx, e.trace, e.clocks, match.Together(finder, h), nil, h.see, nil); err != nil {
		return err
	}
	waited.finish()
	e.summary.Messages, e.summary.Waits = messages.n+int64(len(messages.rows)), waits.n+int64(len(waits.rows))
	return errors.Join(messages.err, waits.err)
}

// matching is a match.Watcher that writes what is matched. It runs after the waitstate.Finder, and
// checks whether an event is the latest one that a call has to wait for.
type matching struct {
	*export
	messages *table[messageRow]
	waits    *table[waitRow]
	waited   *waited

	times []*causality.Times // by location
	now   match.EventID      // the call that the matcher processes,
	moved match.Interval     // and its time in the tables
	free  []*waiting
}

// A waiting is what is known of a call that completes operations.
type waiting struct {
	call  match.EventID
	exit  int64         // in the tables
	cause match.EventID // the call of another rank that it waited for
	// The finder's values when cause was recorded.
	until  int64
	kind   uint8
	source int
}

// see records each call before the matcher processes it.
func (m *matching) see(c *match.Call) {
	m.now = match.EventID{Location: int32(c.Location), Ordinal: uint32(c.Index) + 1}
	times := m.times[c.Location]
	enter := times.Enter(c.Enter)
	m.moved = match.Interval{Enter: enter, Exit: times.Exit(c.Index, c.Exit)}
}

// callID returns the number of a call, −1 if there is none.
func (m *matching) callID(c match.EventID) int64 {
	if c.Ordinal == 0 {
		return -1
	}
	return m.firstCall[c.Location] + int64(c.Ordinal) - 1
}

// Posted implements match.Watcher.
func (m *matching) Posted(e *match.End) { e.Posted, e.PostedAt = m.now, m.moved }

// Progressed implements match.Watcher.
func (m *matching) Progressed(*match.End) {}

// Entered implements match.Watcher.
func (m *matching) Entered(c *match.Collective, part int) { c.Parts[part].Entered = m.now }

// Retired implements match.Watcher.
func (m *matching) Retired(*match.Collective) {}

// Opened implements match.Watcher.
func (m *matching) Opened(c *match.Completion) {
	var w *waiting
	if n := len(m.free); n > 0 {
		w, m.free = m.free[n-1], m.free[:n-1]
	} else {
		w = new(waiting)
	}
	*w = waiting{call: m.now, exit: m.moved.Exit, source: -1}
	c.Tag = w
}

// blame records the call that another one waits for, if the finder has just found it.
func blame(done *match.Completion, cause match.EventID, location int) {
	if done == nil || done.Kind == uint8(waitstate.None) || done.Cause != location {
		return
	}
	if w := done.Tag.(*waiting); w.until != done.Until || w.kind != done.Kind || w.source != done.Cause {
		w.cause, w.until, w.kind, w.source = cause, done.Until, done.Kind, done.Cause
	}
}

// Message implements match.Handler.
func (m *matching) Message(of *match.Message) {
	s, r := of.Send, of.Receive
	blame(r.Done, s.Posted, s.Post.Location)
	blame(s.Done, r.Posted, r.Post.Location)
	if of.Kind != match.Data || r.Probe {
		return
	}
	from, to, done := &s.Post, &r.Post, r.Done
	if !m.shown(from.Location, from.Enter, from.Exit) || !m.shownReceive(r) {
		return
	}
	sender, receiver := &m.locations[from.Location], &m.locations[to.Location]
	sent, posted, nullable := &s.PostedAt, &r.PostedAt, &m.messages.nullable
	row := messageRow{
		SendRank: int32(sender.Rank), SendThread: int32(sender.Thread), SendCallID: m.callID(s.Posted),
		RecvRank: int32(receiver.Rank), RecvThread: int32(receiver.Thread), RecvPostCallID: m.callID(r.Posted),
		Communicator: m.comm(of.Comm), CommID: int32(of.Comm), Tag: int32(of.Tag),
		SendEnterNS: m.time(sent.Enter), SendExitNS: m.time(sent.Exit), RecvPostNS: m.time(posted.Enter), LateNS: sent.Enter - posted.Enter,
	}
	if of.Bytes >= 0 {
		row.Bytes = nullable.int64(of.Bytes)
	}
	if done != nil {
		row.RecvThread = int32(m.locations[done.Location].Thread)
		end := done.Tag.(*waiting)
		row.RecvCallID, row.RecvExitNS = nullable.int64(m.callID(end.call)), nullable.int64(m.time(end.exit))
	}
	m.messages.add(row)
}

// shownReceive reports whether the call that completed a receive, or the one that posted it, is
// selected.
func (m *matching) shownReceive(r *match.End) bool {
	p := &r.Post
	return m.shown(p.Location, p.Enter, p.Exit) || r.Done != nil && m.shown(r.Done.Location, r.Done.Enter, r.Done.Exit)
}

// Collective implements match.Handler.
func (m *matching) Collective(c *match.Collective, part int) {
	done := c.Parts[part].Done
	if done == nil || done.Cause < 0 {
		return
	}
	for i := range c.Parts {
		if p := &c.Parts[i]; p.Present() && p.Post.Location == done.Cause {
			blame(done, p.Entered, done.Cause)
			return
		}
	}
}

// Settled implements match.Handler.
func (m *matching) Settled(c *match.Completion) {
	if w, is := c.Tag.(*waiting); is {
		m.free = append(m.free, w)
		c.Tag = nil
	}
}

// found is called for each wait state, before the call is settled.
func (m *matching) found(s *waitstate.State) {
	w, call := s.Call.Tag.(*waiting), s.Call
	m.waited.add(call.Location, uint64(w.call.Ordinal)-1, s.Waited())
	if !m.shown(call.Location, call.Enter, call.Exit) {
		return
	}
	waiter, cause := &m.locations[call.Location], &m.locations[s.Cause]
	row := waitRow{
		Rank: int32(waiter.Rank), Thread: int32(waiter.Thread), CallID: m.callID(w.call), Kind: s.Kind.String(),
		BeginNS: m.time(s.Begin), EndNS: m.time(s.End), WaitingNS: s.Waited(), ErrorNS: min(s.Waited(), s.Error),
		Function: m.function(call.Function), CallSite: m.site(call.Site),
		CauseRank: int32(cause.Rank), CauseThread: int32(cause.Thread),
	}
	if w.source == s.Cause && w.cause.Ordinal > 0 {
		row.CauseCallID = m.waits.nullable.int64(m.callID(w.cause))
	}
	m.waits.add(row)
}

func (e *export) function(id uint16) string {
	if f := e.trace.Function(id); f != nil {
		return f.Name
	}
	return ""
}
