package otf2

import (
	"github.com/cairn-mpi/cairn/analyzer/export/causality"
	"github.com/cairn-mpi/cairn/analyzer/match"
)

// A slot identifies what a call posts: the n-th end of a message, or a part in a collective
// operation.
type slot struct {
	location   int32
	nth        uint16
	collective bool
	call       uint64
}

// pairing is the first pass: it computes the corrected times, and finds the ends of messages and
// parts of collectives whose other side is not written.
type pairing struct {
	*causality.Finder
	export *export
	calls  []posting                      // by location: the present call
	ends   map[match.EventID]slot         // posted and not received yet
	open   map[uint64]*collectiveInstance // by the collective's number
}

// A posting is a call with the number of ends of messages that it has posted so far.
type posting struct {
	call uint64
	nth  uint16
}

// A collectiveInstance is a collective in progress.
type collectiveInstance struct {
	parts         []slot
	hidden, shown bool // some of it is not written; some of it is
}

func newPairing(e *export) *pairing {
	return &pairing{
		Finder: causality.NewFinder(e.trace), export: e, calls: make([]posting, len(e.locations)),
		ends: map[match.EventID]slot{}, open: map[uint64]*collectiveInstance{},
	}
}

// See records the next call, before it is matched.
func (p *pairing) See(c *match.Call) {
	p.Finder.See(c)
	p.calls[c.Location] = posting{call: c.Index}
}

// Posted implements match.Watcher.
func (p *pairing) Posted(e *match.End) {
	at := &p.calls[e.Post.Location]
	s, again := p.ends[e.Posted] // of a partitioned message that becomes ready
	if again {
		delete(p.ends, e.Posted)
	} else {
		s = slot{location: int32(e.Post.Location), nth: at.nth, call: at.call}
		at.nth++
	}
	p.Finder.Posted(e)
	p.ends[e.Posted] = s
}

// Message implements match.Handler.
func (p *pairing) Message(m *match.Message) {
	if m.Kind == match.Data && !m.Receive.Probe {
		p.message(m)
	}
	p.Finder.Message(m)
}

func (p *pairing) message(m *match.Message) {
	send, sent := p.ends[m.Send.Posted]
	receive, received := p.ends[m.Receive.Posted]
	delete(p.ends, m.Send.Posted)
	delete(p.ends, m.Receive.Posted)
	if !sent || !received || p.whole(m) {
		return
	}
	p.leave(send)
	p.leave(receive)
}

// whole reports whether all calls of a message are in the time range.
func (p *pairing) whole(m *match.Message) bool {
	in := func(at *match.Point) bool { return p.export.within(at.Enter, at.Exit) }
	return m.Receive.Done != nil && in(&m.Send.Post) && (m.Send.Done == nil || in(&m.Send.Done.Point)) &&
		in(&m.Receive.Post) && in(&m.Receive.Done.Point)
}

// leave records that something is not to be written. For unselected ranks nothing needs to be
// recorded.
func (p *pairing) leave(s slot) {
	if p.export.chosen[s.location] {
		p.export.leftOut[s] = struct{}{}
	}
}

// Entered implements match.Watcher.
func (p *pairing) Entered(c *match.Collective, part int) {
	g := p.open[c.Number]
	if g == nil {
		g = new(collectiveInstance)
		p.open[c.Number] = g
	}
	at := &c.Parts[part].Post
	call := p.calls[at.Location]
	g.parts = append(g.parts, slot{location: int32(at.Location), nth: call.nth, collective: true, call: call.call})
	p.calls[at.Location].nth++
	g.see(p.export, at)
	p.Finder.Entered(c, part)
}

// see records a call that begins or ends a part.
func (g *collectiveInstance) see(e *export, at *match.Point) {
	if e.chosen[at.Location] {
		in := e.within(at.Enter, at.Exit)
		g.shown, g.hidden = g.shown || in, g.hidden || !in
	}
}

// Collective implements match.Handler.
func (p *pairing) Collective(c *match.Collective, part int) {
	if g := p.open[c.Number]; g != nil {
		g.see(p.export, &c.Parts[part].Done.Point)
	}
	p.Finder.Collective(c, part)
}

// Retired implements match.Watcher.
func (p *pairing) Retired(c *match.Collective) {
	if g := p.open[c.Number]; g != nil && g.shown && g.hidden {
		p.leaveAll(g)
	}
	delete(p.open, c.Number)
	p.Finder.Retired(c)
}

func (p *pairing) leaveAll(g *collectiveInstance) {
	for _, s := range g.parts {
		p.leave(s)
	}
}

// finish ends the pass: what has no other side is left out.
func (p *pairing) finish() *causality.Correction {
	for _, s := range p.ends {
		p.leave(s)
	}
	for _, g := range p.open {
		p.leaveAll(g)
	}
	return p.Finder.Finish()
}
