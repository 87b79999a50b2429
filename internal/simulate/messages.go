package simulate

import "slices"

// A Request is a send or receive that may not be complete.
type Request struct {
	owner   *Rank
	raw     int64
	comm    *Comm
	peer    int // rank in MPI_COMM_WORLD, or AnySource
	tag     int
	bytes   int
	receive bool

	posted  int64 // when its call was entered
	done    bool
	at      int64 // when it completed
	awaited bool
	status  Status
	message *message
}

// A message is in transit or has arrived.
type message struct {
	source, dest int   // ranks in MPI_COMM_WORLD
	comm         *Comm // the sender's view
	tag, bytes   int
	sent         int64 // when the sending call was entered
	arrived      int64
	send         *Request // of a message that waits for its receive, otherwise nil
	received     int64    // when that receive was posted, if it was
}

func (q *Request) matches(m *message) bool {
	return q.comm.id == m.comm.id && (q.peer == AnySource || q.peer == m.source) && (q.tag == AnyTag || q.tag == m.tag)
}

// send posts a message. Synchronous messages wait for their receive whatever their size.
func (r *Rank) send(comm *Comm, dest, tag, bytes int, enter int64, synchronous bool) *Request {
	q := &Request{owner: r, comm: comm, peer: comm.worldRank(dest), tag: tag, bytes: bytes, posted: enter, at: enter,
		status: Status{Source: procNull, Tag: AnyTag}}
	if r.yield == nil {
		q.done = true
		return q
	}
	m := &message{source: r.rank, dest: q.peer, comm: comm, tag: tag, bytes: bytes, sent: enter}
	q.message = m
	if synchronous || bytes > r.sim.config.Model.Eager {
		m.send = q
	} else {
		q.done = true
	}
	latency := r.sim.config.Model.Latency
	if perNode := r.sim.config.RanksPerNode; q.peer/perNode != r.rank/perNode {
		latency += r.sim.config.Model.Between
	}
	r.sim.events.push(event{at: enter + latency, kind: arrives, message: m})
	return q
}

// receive posts a receive.
func (r *Rank) receive(comm *Comm, source, tag, bytes int, enter int64) *Request {
	q := &Request{owner: r, comm: comm, peer: comm.worldRank(source), tag: tag, bytes: bytes, receive: true, posted: enter, at: enter}
	if r.yield == nil {
		q.done, q.at = true, enter+r.sim.config.Model.Latency
		q.status = Status{Source: source, Tag: tag, Bytes: bytes}
		return q
	}
	for i, m := range r.unexpected {
		if q.matches(m) {
			r.unexpected = slices.Delete(r.unexpected, i, i+1)
			r.sim.match(q, m)
			return q
		}
	}
	r.posted = append(r.posted, q)
	return q
}

// arrive delivers a message at its destination.
func (s *Simulation) arrive(m *message, at int64) {
	m.arrived = at
	r := s.ranks[m.dest]
	for i, q := range r.posted {
		if q.matches(m) {
			r.posted = slices.Delete(r.posted, i, i+1)
			s.match(q, m)
			return
		}
	}
	r.unexpected = append(r.unexpected, m)
}

// match joins a receive and its message, and sets when both complete.
func (s *Simulation) match(q *Request, m *message) {
	transfer := int64(float64(m.bytes) * s.config.Model.PerByte)
	q.message = m
	q.status = Status{Source: q.comm.rankOf(m.source), Tag: m.tag, Bytes: m.bytes}
	m.received = q.posted
	if m.send == nil {
		q.at = max(q.posted, m.arrived+transfer)
	} else {
		q.at = max(q.posted, m.arrived) + transfer
		m.send.at = q.at
		s.events.push(event{at: q.at, kind: completes, request: m.send})
	}
	s.events.push(event{at: q.at, kind: completes, request: q})
}

// complete completes a request and resumes the rank that waits for it.
func (s *Simulation) complete(q *Request) {
	q.done = true
	if !q.awaited {
		return
	}
	q.awaited = false
	if q.owner.missing--; q.owner.missing == 0 {
		s.resume(q.owner)
	}
}

// await blocks until all of the requests, or one of them, have completed.
func (r *Rank) await(all bool, requests ...*Request) {
	missing := 0
	for _, q := range requests {
		if q.done {
			if !all {
				return
			}
			continue
		}
		missing++
	}
	if missing == 0 {
		return
	}
	for _, q := range requests {
		q.awaited = !q.done
	}
	r.missing = missing
	if !all {
		r.missing = 1
	}
	r.block()
	for _, q := range requests {
		q.awaited = false
	}
}
