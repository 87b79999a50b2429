package match

// Progress. MPI moves a message that is too large to be sent eagerly only while both sides are inside MPI, unless a
// network card or a helper thread does it for them. A receive that was posted early, or a non-blocking send, is of no
// use while its rank computes: the other side waits until that rank calls MPI again, whatever it calls.

// progress is what is known of when a rank was inside MPI lately.
type progress struct {
	enter   Stamp // of the call that left last
	exit    int64
	waiting []*End // matched ends of this rank that no call has moved yet
}

// await finds out when the rank of e is inside MPI at or after t.
func (m *Matcher) await(e *End, t Stamp) {
	p := &m.ranks[e.Post.Row].progress
	if e.settled {
		e.Progress, e.ProgressError = t.At, t.Error // it did not have to wait for that
		return
	}
	inside := p.exit >= t.At
	if inside {
		t = t.Later(p.enter)
	}
	e.Progress, e.ProgressError = t.At, t.Error
	if inside {
		return
	}
	e.awaiting = true
	p.waiting = append(p.waiting, e)
}

// moved notes that a rank is inside MPI.
func (m *Matcher) moved(c *Call, row int) {
	p := &m.ranks[row].progress
	if c.Exit >= p.exit {
		p.enter, p.exit = Stamp{c.Enter, c.EnterError}, c.Exit
	}
	if len(p.waiting) == 0 {
		return
	}
	left := p.waiting[:0]
	for _, e := range p.waiting {
		if c.Exit < e.Progress {
			left = append(left, e)
		} else {
			since := e.ProgressStamp().Later(Stamp{c.Enter, c.EnterError})
			e.Progress, e.ProgressError, e.awaiting = since.At, since.Error, false
			if m.watcher != nil {
				m.watcher.Progressed(e)
			}
		}
	}
	clear(p.waiting[len(left):])
	p.waiting = left
}
