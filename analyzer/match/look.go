package match

import (
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// MPI_Request_get_status and its plural forms find out that a receive has its message and leave the
// request as it is. Who asked so until it was there has waited for the message, in whatever call
// the request is completed later.

// looks are the calls in which a receiver saw that its message was there.
type looks struct{ done []*Completion }

// looked handles a successful MPI_Request_get_status. Only receives are followed: what a send or a
// collective waits for shows in the call that completes it.
func (m *Matcher) looked(p *plan, c *Call, row int) {
	var done *Completion
	for i := range c.requests {
		r := m.ranks[row].requests.get(c.requests[i].request)
		if r == nil || !r.active || r.ends[1] == nil || r.ends[1].unmatched {
			continue
		}
		if done == nil {
			done = m.completion(c, row)
			m.polled(p, done)
		}
		done.open++
		e := r.ends[1]
		if e.looks == nil {
			e.looks = new(looks)
		}
		e.looks.done = append(e.looks.done, done)
	}
	if done != nil {
		m.sealed(done)
	}
}

// tellLooks reports a message to those who saw that it was there.
func (m *Matcher) tellLooks(s, r *End) {
	if r.looks == nil {
		return
	}
	for _, done := range r.looks.done {
		m.message = Message{
			Send: s, Receive: &End{Post: r.Post, Done: done, Probe: true, receive: true}, Comm: int(r.channel.comm), Tag: r.channel.tag, Bytes: r.bytes,
		}
		m.handler.Message(&m.message)
	}
}

// knownLooks settles the calls that saw that a message was there.
func (m *Matcher) knownLooks(e *End) {
	if e.looks == nil {
		return
	}
	for _, done := range e.looks.done {
		m.known(done)
	}
	e.looks = nil
}

// looksLike is the call that would complete what an MPI_Request_get_status of these requests only
// sees.
func (p *plan) looksLike(requests *trace.Value) action {
	switch {
	case p.Out[semantics.OutCount] >= 0:
		return waitSome
	case p.Out[semantics.Index] >= 0:
		return waitAny
	case requests.Form == trace.List:
		return waitAll
	}
	return wait
}
