package match

import "github.com/cairn-mpi/cairn/mpi/semantics"

// General active target synchronization (MPI 4.0 §12.5.2): the k-th access epoch of an origin to a
// target belongs to the k-th exposure epoch of that target to that origin. An exposure acts like a
// message from the target, for which MPI_Win_start or MPI_Win_complete may have waited. The end of
// an access acts like a message from the origin, for which MPI_Win_wait waits. Both are matched
// like messages, in separate channels.

// Tags of these channels.
const (
	exposedToStart = 1 + iota
	exposedToComplete
	accessed
)

var signalKinds = [...]MessageKind{exposedToStart: ExposedToStart, exposedToComplete: Exposed, accessed: Accessed}

// epoch handles MPI_Win_post, start, complete, wait and a successful test.
func (m *Matcher) epoch(p *plan, c *Call, row int) {
	o := m.object(p, c, row)
	if o == nil || p.missed(c.event) {
		return
	}
	switch p.action {
	case epochPost:
		o.exposure = m.members(row, p.in(c.event, semantics.Group))
		for _, origin := range o.exposure {
			m.signal(o, c, row, origin, exposedToStart)
			m.signal(o, c, row, origin, exposedToComplete)
		}
	case epochStart:
		o.access = m.members(row, p.in(c.event, semantics.Group))
		m.awaitSignals(p, c, o, row, o.access, exposedToStart)
	case epochComplete:
		m.awaitSignals(p, c, o, row, o.access, exposedToComplete)
		for _, target := range o.access {
			m.signal(o, c, row, target, accessed)
		}
		o.access = nil
	case epochWait:
		m.awaitSignals(p, c, o, row, o.exposure, accessed)
		o.exposure = nil
	}
}

// signal posts the message that an epoch towards another row has begun or ended.
func (m *Matcher) signal(o *object, c *Call, row int, to int32, tag int64) {
	if to < 0 {
		return
	}
	e := m.end()
	e.Post.set(c, row)
	e.settled = true
	e.channel = channelKey{comm: o.comm, object: o.number, source: int32(row), dest: to, tag: tag}
	m.posted(e)
	ch := m.channels.at(e.channel)
	ch.sends.push(e)
	m.join(ch)
}

// awaitSignals records that a call may have waited for signals of other rows.
func (m *Matcher) awaitSignals(p *plan, c *Call, o *object, row int, from []int32, tag int64) {
	done := m.completion(c, row)
	m.polled(p, done)
	for _, source := range from {
		if source < 0 {
			continue
		}
		e := m.end()
		e.Post, e.receive, e.settled, e.Done = done.Point, true, true, done
		done.open++
		e.channel = channelKey{comm: o.comm, object: o.number, source: source, dest: int32(row), tag: tag}
		m.posted(e)
		ch := m.channels.at(e.channel)
		ch.receives.push(e)
		m.join(ch)
	}
	m.seal(done)
}
