package match

// settling is the queue of a location's completions from the first unsettled one on.
type settling struct{ first, last *Completion }

// completion adds a call that completes operations. It stays open until sealed, even if all its
// operations are resolved before.
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

// seal marks that all operations of the call are registered.
func (m *Matcher) seal(done *Completion) { m.resolve(done) }

// resolve marks one of the call's operations as fully known.
func (m *Matcher) resolve(done *Completion) {
	if done == nil {
		return
	}
	done.open--
	if done.open == 0 {
		m.settle(done.Location)
	}
}

// settle reports the completions of a location that are known, in program order.
func (m *Matcher) settle(location int) {
	q := &m.threads[location].settling
	for q.first != nil && q.first.open <= 0 {
		c := q.first
		q.first = c.next
		m.handler.Settled(c)
		m.freeCompletions = append(m.freeCompletions, c)
	}
}
