package perfetto

import (
	"github.com/cairn-mpi/cairn/analyzer/match"
)

// A call is identified by its thread, times, function and call site. Calls that are equal in all of
// these take no time, and the first of them represents all.
type call struct {
	location    int
	enter, exit int64
	function    uint16
	site        uint32
}

func callOf(p *match.Point) call { return call{p.Location, p.Enter, p.Exit, p.Function, p.Site} }

// A flow is a message with both ends shown. Its number is its index + 1.
type flow struct {
	sent    int64 // enter of the call that sent it
	opening int32 // index + 1 of that call among the calls to be written next; 0: none
	begun   bool  // one of its ends is in the file
}

// flows are the messages to be shown, by the call that sent them and by the one that completed
// their receive. It is a match.Handler. Its memory grows with the messages shown.
type flows struct {
	shown          func(location int, enter, exit int64) bool
	sent, received map[call][]uint64
	messages       []flow
	inFlight       []change // of the bytes in flight
}

func (f *flows) of(id uint64) *flow { return &f.messages[id-1] }

// Message implements match.Handler.
func (f *flows) Message(m *match.Message) {
	from, to := m.Send.Post, m.Receive.Done
	if m.Receive.Probe || to == nil || m.Kind == match.ExposedToStart || !f.shown(from.Location, from.Enter, from.Exit) || !f.shown(to.Location, to.Enter, to.Exit) {
		return
	}
	if m.Bytes > 0 {
		f.inFlight = append(f.inFlight, change{from.Enter, from.Location, m.Bytes}, change{max(from.Enter, to.Exit), from.Location, -m.Bytes})
	}
	f.messages = append(f.messages, flow{sent: from.Enter})
	id := uint64(len(f.messages))
	start, finish := callOf(&from), callOf(&to.Point)
	f.sent[start] = append(f.sent[start], id)
	f.received[finish] = append(f.received[finish], id)
}

// Collective implements match.Handler.
func (f *flows) Collective(*match.Collective, int) {}

// Settled implements match.Handler.
func (f *flows) Settled(*match.Completion) {}

// take returns and removes a call's messages.
func take(of map[call][]uint64, c call) []uint64 {
	ids := of[c]
	delete(of, c)
	return ids
}
