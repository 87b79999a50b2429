package match

import (
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// MPI_Request_get_status and its variants for several requests report that a receive has its
// message and leave the request active. A caller that polled until then has waited for the message,
// in whatever call the request is completed later.

// queries are the calls in which a receiver learned that its message had arrived.
type queries struct{ done []*Completion }

// queried handles a successful MPI_Request_get_status. Only receives are followed: waits for sends
// and collectives show up in the call that completes them.
func (m *Matcher) queried(p *plan, c *Call, row int) {
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
		if e.queries == nil {
			e.queries = new(queries)
		}
		e.queries.done = append(e.queries.done, done)
	}
	if done != nil {
		m.seal(done)
	}
}

// reportQueries reports a message for each call that learned of its arrival.
func (m *Matcher) reportQueries(s, r *End) {
	if r.queries == nil {
		return
	}
	for _, done := range r.queries.done {
		m.message = Message{
			Send: s, Receive: &End{Post: r.Post, Done: done, Probe: true, receive: true}, Comm: int(r.channel.comm), Tag: r.channel.tag, Bytes: r.bytes,
		}
		m.handler.Message(&m.message)
	}
}

// settleQueries settles the calls that learned of a message's arrival.
func (m *Matcher) settleQueries(e *End) {
	if e.queries == nil {
		return
	}
	for _, done := range e.queries.done {
		m.resolve(done)
	}
	e.queries = nil
}

// completingAction returns the action of the call that would complete the requests of an
// MPI_Request_get_status.
func (p *plan) completingAction(requests *trace.Value) action {
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
