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

// release takes an end back. Its completion, if it has one, is known.
func (m *Matcher) release(e *End) {
	m.knownArrivals(e)
	m.knownLooks(e)
	m.known(e.Done)
	m.freeEnds = append(m.freeEnds, e)
}

// postSend makes a send active; nil if no message leaves.
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

// postReceive makes a receive active; nil if no message is expected.
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

// queueReceive gives a receive its place in the order of posting.
func (m *Matcher) queueReceive(e *End) {
	key := receiverKey{e.channel.comm, e.channel.dest}
	var box *postedQueue
	if len(m.postedQueues) > 0 {
		box = m.postedQueues[key]
	}
	if box == nil {
		if !e.wildcard {
			m.toChannel(e)
			return
		}
		box = new(postedQueue)
		m.postedQueues[key] = box
	}
	box.line.push(e)
	m.advance(key, box)
}

// advance lets receives whose envelope is known go to their channels, in order.
func (m *Matcher) advance(key receiverKey, box *postedQueue) {
	for e := box.ready(); e != nil; e = box.ready() {
		m.toChannel(e)
	}
	if box.line.empty() {
		delete(m.postedQueues, key)
	}
}

// toChannel puts a receive into its channel.
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

// ownRank tells the receiver's group in an intercommunicator apart; in others it does not matter.
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

// orphan marks an end that will find no partner.
func (m *Matcher) orphan(e *End) {
	e.unmatched = true
	if e.settled {
		m.release(e)
	}
}

// join matches what waits at both sides of a channel.
func (m *Matcher) join(ch *channel) {
	for {
		r, s := ch.receives.peek(), ch.sends.peek()
		if r == nil || s == nil {
			break
		}
		ch.receives.drop()
		r.partner = s
		if r.Probe {
			m.saw(r, s)
			continue
		}
		ch.sends.drop()
		s.partner = r
		m.both(s, r)
		m.report(s, r)
	}
}

// saw reports a probe, which leaves the message in its channel.
func (m *Matcher) saw(r, s *End) {
	m.tell(s, r)
	m.release(r)
}

func (m *Matcher) tell(s, r *End) {
	m.tellArrivals(s, r)
	m.tellLooks(s, r)
	m.message = Message{Send: s, Receive: r, Comm: int(r.channel.comm), Tag: r.channel.tag, Bytes: r.bytes}
	if r.channel.object != 0 {
		m.message.Kind = signalKinds[r.channel.tag]
	}
	m.handler.Message(&m.message)
}

// report tells of a message when both its ends are completed.
func (m *Matcher) report(s, r *End) {
	if !s.settled || !r.settled {
		return
	}
	m.tell(s, r)
	m.release(s)
	m.release(r)
}

// completeEnd notes that an operation was completed.
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
		// nothing was received, or nobody can tell from whom
		e.dead = true
		if e.wildcard {
			e.wildcard = false
			if !status.known {
				m.leftovers.untold(&e.Post)
			}
			key := receiverKey{e.channel.comm, e.channel.dest}
			if box := m.postedQueues[key]; box != nil {
				m.advance(key, box)
			}
		}
		// The queue that holds it drops it by itself; it is not used again.
		m.knownArrivals(e)
		m.knownLooks(e)
		m.known(e.Done)
		e.Done = nil
	case e.wildcard:
		e.wildcard = false
		e.channel.source, e.channel.tag = status.source, status.tag
		key := receiverKey{e.channel.comm, e.channel.dest}
		if box := m.postedQueues[key]; box != nil {
			m.advance(key, box)
		}
	}
}

// probe handles MPI_Probe and a successful MPI_Iprobe: they may have waited for the message that they saw.
func (m *Matcher) probe(p *plan, c *Call, row int) {
	status := c.status()
	if !status.known || status.source < 0 || m.group(c.comm) == nil {
		return
	}
	done := m.completion(c, row)
	m.polled(p, done)
	m.look(c, row, done, status)
	m.sealed(done)
}

// polled notes since when a call has been asking, if it ends polls.
func (m *Matcher) polled(p *plan, done *Completion) {
	if m.polling {
		done.Begin = m.since
	}
	done.Polled = p.Polls && !m.polling
}

// look stands a completed probe in line.
func (m *Matcher) look(c *Call, row int, done *Completion, status envelope) {
	e := m.end()
	e.Post.set(c, row)
	e.receive, e.Probe, e.bytes = true, true, status.bytes
	e.channel = channelKey{comm: c.comm, source: status.source, dest: int32(row), tag: status.tag}
	e.settled, e.Done = true, done
	done.open++
	m.queueReceive(e)
}

// matchedProbe handles Mprobe and Improbe: they take the message, and a later Mrecv completes it.
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
	m.look(c, row, done, status)
	m.sealed(done)
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
		if id := p.out(c.event, semantics.Request); id.Form == trace.Handle || id.Form == trace.Int {
			q := m.ranks[row].requests.put(id.Int)
			q.active, q.ends[1] = true, e
		}
		return
	}
	done := m.completion(c, row)
	m.completeRequest(&r, done, statusIn(p.out(c.event, semantics.Status), 0))
	m.sealed(done)
}
