package perfetto

import (
	"github.com/cairn-mpi/cairn/analyzer/match"
)

// A call is known by where and when it was entered.
type call struct {
	location int
	enter    int64
}

// flows are the messages whose both ends are shown: a number for each, by the call that sent it and by the one that
// completed its receive. It is a match.Handler. Memory grows with the messages shown.
type flows struct {
	shown            func(location int, enter, exit int64) bool
	starts, finishes map[call][]uint64
	count            uint64
}

// Message implements match.Handler.
func (f *flows) Message(m *match.Message) {
	from, to := m.Send.Post, m.Receive.Done
	if m.Receive.Probe || to == nil || m.Kind == match.ExposedToStart || !f.shown(from.Location, from.Enter, from.Exit) || !f.shown(to.Location, to.Enter, to.Exit) {
		return
	}
	f.count++
	start, finish := call{from.Location, from.Enter}, call{to.Location, to.Enter}
	f.starts[start] = append(f.starts[start], f.count)
	f.finishes[finish] = append(f.finishes[finish], f.count)
}

// Collective implements match.Handler.
func (f *flows) Collective(*match.Collective, int) {}

// Settled implements match.Handler.
func (f *flows) Settled(*match.Completion) {}
