package match

// Progress. MPI moves a message that is too large to be sent eagerly only while both sides are inside MPI, unless a
// network card or a helper thread does it for them. A receive that was posted early, or a non-blocking send, is of no
// use while its rank computes: the other side waits until that rank calls MPI again, whatever it calls.

// progress is what is known of when a rank was inside MPI lately.
type progress struct {
	enter, exit int64  // of the call that left last
	waiting     []*End // matched ends of this rank that no call has moved yet
}

// await finds out when the rank of e is inside MPI at or after t.
func (m *Matcher) await(e *End, t int64) {
	p := &m.ranks[e.Post.Row].progress
	if e.settled {
		e.Progress = t // it did not have to wait for that
		return
	}
	if p.exit >= t {
		e.Progress = max(t, p.enter)
		return
	}
	e.Progress, e.awaiting = t, true
	p.waiting = append(p.waiting, e)
}

// moved notes that a rank is inside MPI.
func (m *Matcher) moved(c *Call, row int) {
	p := &m.ranks[row].progress
	if c.Exit >= p.exit {
		p.enter, p.exit = c.Enter, c.Exit
	}
	if len(p.waiting) == 0 {
		return
	}
	left := p.waiting[:0]
	for _, e := range p.waiting {
		if c.Exit < e.Progress {
			left = append(left, e)
		} else {
			e.Progress, e.awaiting = max(e.Progress, c.Enter), false
			if m.watcher != nil {
				m.watcher.Progressed(e)
			}
		}
	}
	clear(p.waiting[len(left):])
	p.waiting = left
}
