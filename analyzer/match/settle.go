package match

// settling holds the completions of one location that are not settled yet, or stand behind one that is not.
type settling struct{ first, last *Completion }

// completion notes a call that completes operations. It stays open until sealed, whatever becomes known meanwhile.
func (m *Matcher) completion(c *Call, row int) *Completion {
	var done *Completion
	if n := len(m.freeCompletions); n > 0 {
		done = m.freeCompletions[n-1]
		m.freeCompletions = m.freeCompletions[:n-1]
	} else {
		done = new(Completion)
	}
	*done = Completion{}
	done.Cause, done.open, done.Begin = -1, 1, c.Enter
	done.Point.set(c, row)
	q := &m.threads[c.Location].settling
	if q.first == nil {
		q.first = done
	} else {
		q.last.next = done
	}
	q.last = done
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
	q := &m.threads[location].settling
	for q.first != nil && q.first.open <= 0 {
		c := q.first
		q.first = c.next
		m.handler.Settled(c)
		m.freeCompletions = append(m.freeCompletions, c)
	}
}
