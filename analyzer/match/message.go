package match

import (
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

func (m *Matcher) end() *End {
	if n := len(m.freeEnds); n > 0 {
		e := m.freeEnds[n-1]
		m.freeEnds = m.freeEnds[:n-1]
		*e = End{bytes: -1}
		return e
	}
	return &End{bytes: -1}
}

// release recycles an end and resolves its completion, if it has one.
func (m *Matcher) release(e *End) {
	m.settleArrivals(e)
	m.settleQueries(e)
	m.resolve(e.Done)
	m.freeEnds = append(m.freeEnds, e)
}

// postSend activates a send. It returns nil if no message is sent.
func (m *Matcher) postSend(p *prototype, c *Call, row int) *End {
	g := m.group(p.comm)
	if g == nil || p.dest == procNull || p.dest == noValue {
		return nil
	}
	e := m.end()
	e.Post.set(c, row)
	e.Mode = p.plan.Mode
	e.divide(p.partitions)
	e.channel = channelKey{comm: p.comm, source: p.own, dest: int32(g.peer(row, int(p.own), int64(p.dest))), tag: p.tag}
	if e.channel.dest < 0 {
		m.leftovers.absent(&e.Post, Sent)
		e.unmatched = true
		return e
	}
	m.posted(e)
	ch := m.channels.at(e.channel)
	ch.sends.push(e)
	m.join(ch)
	return e
}

func (m *Matcher) posted(e *End) {
	if m.watcher != nil {
		m.watcher.Posted(e)
	}
}

// postReceive activates a receive. It returns nil if no message is expected.
func (m *Matcher) postReceive(p *prototype, c *Call, row int) *End {
	if m.group(p.comm) == nil || p.source == procNull || p.source == noValue {
		return nil
	}
	e := m.end()
	e.Post.set(c, row)
	e.receive = true
	e.Before = m.ranks[row].progress.before
	e.divide(p.partitions)
	e.channel = channelKey{comm: p.comm, source: p.source, dest: int32(row), tag: p.receiveTag}
	e.wildcard = p.source == anyValue || p.receiveTag == anyValue
	m.posted(e)
	m.queueReceive(e)
	return e
}

// queueReceive enters a receive into the posting order.
func (m *Matcher) queueReceive(e *End) {
	key := receiverKey{e.channel.comm, e.channel.dest}
	var queue *postedQueue
	if len(m.postedQueues) > 0 {
		queue = m.postedQueues[key]
	}
	if queue == nil {
		if !e.wildcard {
			m.toChannel(e)
			return
		}
		queue = new(postedQueue)
		m.postedQueues[key] = queue
	}
	queue.receives.push(e)
	m.advance(key, queue)
}

// advance moves receives with known envelopes to their channels, in order.
func (m *Matcher) advance(key receiverKey, queue *postedQueue) {
	for e := queue.ready(); e != nil; e = queue.ready() {
		m.toChannel(e)
	}
	if queue.receives.empty() {
		delete(m.postedQueues, key)
	}
}

// toChannel appends a receive to its channel.
func (m *Matcher) toChannel(e *End) {
	if g := m.group(e.channel.comm); g.peer(int(e.channel.dest), m.ownRank(e), int64(e.channel.source)) < 0 {
		m.leftovers.absent(&e.Post, Received)
		m.orphan(e)
		return
	}
	ch := m.channels.at(e.channel)
	ch.receives.push(e)
	m.join(ch)
}

// ownRank returns a rank of the receiver that identifies its group in an intercommunicator. In
// intracommunicators it is irrelevant.
func (m *Matcher) ownRank(e *End) int {
	g := m.groups[e.channel.comm]
	if !g.inter {
		return 0
	}
	for i, row := range g.local {
		if row == e.channel.dest {
			return i
		}
	}
	return -1
}

// orphan marks an end that will not find a partner.
func (m *Matcher) orphan(e *End) {
	e.unmatched = true
	if e.settled {
		m.release(e)
	}
}

// join matches the sends and receives of a channel as long as it has both.
func (m *Matcher) join(ch *channel) {
	for {
		r, s := ch.receives.peek(), ch.sends.peek()
		if r == nil || s == nil {
			break
		}
		ch.receives.drop()
		r.partner = s
		if r.Probe {
			m.reportProbe(r, s)
			continue
		}
		ch.sends.drop()
		s.partner = r
		m.both(s, r)
		m.report(s, r)
	}
}

// reportProbe reports a probe, which leaves the message in its channel.
func (m *Matcher) reportProbe(r, s *End) {
	m.reportMessage(s, r)
	m.release(r)
}

func (m *Matcher) reportMessage(s, r *End) {
	m.reportArrivals(s, r)
	m.reportQueries(s, r)
	m.message = Message{Send: s, Receive: r, Comm: int(r.channel.comm), Tag: r.channel.tag, Bytes: r.bytes}
	if r.channel.object != 0 {
		m.message.Kind = signalKinds[r.channel.tag]
	}
	m.handler.Message(&m.message)
}

// report reports a message once both its ends are completed.
func (m *Matcher) report(s, r *End) {
	if !s.settled || !r.settled {
		return
	}
	m.reportMessage(s, r)
	m.release(s)
	m.release(r)
}

// completeEnd records that an operation was completed.
func (m *Matcher) completeEnd(e *End, done *Completion, status envelope) {
	e.settled, e.Done = true, done
	if e.awaiting {
		m.ranks[e.Post.Row].progress.completed(e)
	}
	if done != nil {
		done.open++
	}
	if e.receive {
		m.completeReceive(e, status)
		return
	}
	switch {
	case e.unmatched:
		m.release(e)
	case e.partner != nil:
		m.report(e, e.partner)
	}
}

func (m *Matcher) completeReceive(e *End, status envelope) {
	if status.known {
		e.bytes = status.bytes
	}
	switch {
	case e.unmatched:
		m.release(e)
	case e.partner != nil:
		m.report(e.partner, e)
	case status.known && status.cancelled, e.wildcard && (!status.known || status.source < 0):
		// nothing was received, or the sender is unknown
		e.dead = true
		if e.wildcard {
			e.wildcard = false
			if !status.known {
				m.leftovers.unknownSender(&e.Post)
			}
			key := receiverKey{e.channel.comm, e.channel.dest}
			if queue := m.postedQueues[key]; queue != nil {
				m.advance(key, queue)
			}
		}
		// Its queue drops the dead end by itself; it is not used again.
		m.settleArrivals(e)
		m.settleQueries(e)
		m.resolve(e.Done)
		e.Done = nil
	case e.wildcard:
		e.wildcard = false
		e.channel.source, e.channel.tag = status.source, status.tag
		key := receiverKey{e.channel.comm, e.channel.dest}
		if queue := m.postedQueues[key]; queue != nil {
			m.advance(key, queue)
		}
	}
}

// probe handles MPI_Probe and a successful MPI_Iprobe, which may have waited for the message that
// they found.
func (m *Matcher) probe(p *plan, c *Call, row int) {
	status := c.status()
	if !status.known || status.source < 0 || m.group(c.comm) == nil {
		return
	}
	done := m.completion(c, row)
	m.polled(p, done)
	m.queueProbe(c, row, done, status)
	m.seal(done)
}

// polled sets the time since which a call has been waiting, if it ends a series of polls.
func (m *Matcher) polled(p *plan, done *Completion) {
	if m.polling {
		done.Begin = m.since
	}
	done.Polled = p.Polls && !m.polling
}

// queueProbe enters a completed probe into the posting order.
func (m *Matcher) queueProbe(c *Call, row int, done *Completion, status envelope) {
	e := m.end()
	e.Post.set(c, row)
	e.receive, e.Probe, e.bytes = true, true, status.bytes
	e.channel = channelKey{comm: c.comm, source: status.source, dest: int32(row), tag: status.tag}
	e.settled, e.Done = true, done
	done.open++
	m.queueReceive(e)
}

// matchedProbe handles Mprobe and Improbe, which take the message; a later Mrecv completes it.
func (m *Matcher) matchedProbe(p *plan, c *Call, row int) {
	if p.missed(c.event) {
		return
	}
	status := statusIn(p.out(c.event, semantics.Status), 0)
	handle := p.out(c.event, semantics.Message)
	if !status.known || status.source < 0 || m.group(c.comm) == nil || handle.Form == trace.Name {
		return
	}
	done := m.completion(c, row)
	m.polled(p, done)
	m.queueProbe(c, row, done, status)
	m.seal(done)
	e := m.end()
	e.Post.set(c, row)
	e.receive, e.bytes = true, status.bytes
	e.channel = channelKey{comm: c.comm, source: status.source, dest: int32(row), tag: status.tag}
	m.ranks[row].messages[handle.Int] = e
	m.posted(e)
	m.queueReceive(e)
}

func (m *Matcher) matchedReceive(p *plan, c *Call, row int) {
	handle := p.in(c.event, semantics.Message)
	e := m.ranks[row].messages[handle.Int]
	if e == nil || handle.Form == trace.Name {
		return
	}
	delete(m.ranks[row].messages, handle.Int)
	r := request{active: true, ends: [2]*End{nil, e}}
	if p.Completion == semantics.Nonblocking {
		if id := p.out(c.event, semantics.Request); id.Form == trace.Handle {
			q := m.ranks[row].requests.put(id.Int)
			q.active, q.ends[1] = true, e
		}
		return
	}
	done := m.completion(c, row)
	m.completeRequest(&r, done, statusIn(p.out(c.event, semantics.Status), 0))
	m.seal(done)
}
