package match

import "github.com/cairn-mpi/cairn/analyzer/timeline"

// settling holds the completions of one location that are not settled yet, or stand behind one that is not.
type settling struct {
	calls []*Completion
	head  int
}

// completion notes a call that completes operations. It stays open until sealed, whatever becomes known meanwhile.
func (m *Matcher) completion(c *timeline.Call, row int) *Completion {
	var done *Completion
	if n := len(m.freeCompletions); n > 0 {
		done = m.freeCompletions[n-1]
		m.freeCompletions = m.freeCompletions[:n-1]
	} else {
		done = new(Completion)
	}
	*done = Completion{Point: pointOf(c, row), Cause: -1, open: 1, Begin: c.Enter}
	q := &m.queues[c.Location]
	q.calls = append(q.calls, done)
	if m.watcher != nil {
		m.watcher.Opened(done)
	}
	return done
}

// sealed tells that all operations which the call completes are known.
func (m *Matcher) sealed(done *Completion) { m.known(done) }

// known tells that one of the call's operations is fully known.
func (m *Matcher) known(done *Completion) {
	if done == nil {
		return
	}
	done.open--
	if done.open == 0 {
		m.settle(done.Location)
	}
}

// settle hands over what is known of a location, in program order.
func (m *Matcher) settle(location int) {
	q := &m.queues[location]
	for q.head < len(q.calls) && q.calls[q.head].open <= 0 {
		c := q.calls[q.head]
		q.calls[q.head] = nil
		q.head++
		m.handler.Settled(c)
		m.freeCompletions = append(m.freeCompletions, c)
	}
	if q.head == len(q.calls) {
		q.calls, q.head = q.calls[:0], 0
	} else if q.head >= 256 && 2*q.head >= len(q.calls) {
		n := copy(q.calls, q.calls[q.head:])
		clear(q.calls[n:])
		q.calls, q.head = q.calls[:n], 0
	}
}
