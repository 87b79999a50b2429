package match

import "slices"

// Progress. MPI moves a message that is too large to be sent eagerly only while both sides are inside MPI, unless a
// network card or a helper thread does it for them. A receive that was posted early, or a non-blocking send, is of no
// use while its rank computes: the other side waits until that rank calls MPI again, whatever it calls.

// progress is what is known of when a rank was inside MPI lately.
type progress struct {
	enter, exit Stamp  // of the call that left last
	before      int64  // when the rank had left MPI before it
	waiting     []*End // matched ends of this rank that no call has moved yet
}

// both notes that both sides of a message are posted. Who came last is inside MPI.
func (m *Matcher) both(s, r *End) {
	sent, received := s.Post.EnterStamp(), r.Post.EnterStamp()
	if sent.Later(received) == sent {
		m.last(s, sent)
		m.await(r, sent)
		return
	}
	m.last(r, received)
	m.await(s, received)
}

// last notes that the rank of e, which was posted last, was inside MPI then.
func (m *Matcher) last(e *End, t Stamp) {
	e.Progress, e.ProgressError = t.At, t.Error
	if p := &m.ranks[e.Post.Row].progress; !e.settled && p.enter.At == e.Post.Enter {
		e.Brief, e.Left = true, p.exit.At
		e.awaiting = true
		p.waiting = append(p.waiting, e)
	}
}

// await finds out when the rank of e, which was posted before t, is inside MPI at or after t.
func (m *Matcher) await(e *End, t Stamp) {
	e.Progress, e.ProgressError = t.At, t.Error
	if e.settled {
		return // it did not have to wait for that
	}
	p := &m.ranks[e.Post.Row].progress
	if p.enter.At >= e.Post.Enter && e.passes(p.enter, p.exit) { // else it is still in the call that posted it
		return
	}
	e.awaiting = true
	p.waiting = append(p.waiting, e)
}

// passes reports whether e's rank was in a call at, or came into it after, both sides had been posted, and notes when.
// Where times are rounded, a rank that seems to have left before that may still have been inside and the other way round:
// then it is open until the rank's next call.
func (e *End) passes(enter, exit Stamp) bool {
	t := e.ProgressStamp()
	switch {
	case e.Open:
	case e.Brief:
		if enter.At-e.Left <= shortly+2*(enter.Error+exit.Error) {
			e.Left = max(e.Left, exit.At)
			return false
		}
	case exit.At != t.At && !t.After(exit) && !exit.After(t):
		e.Open, e.Left = true, exit.At
		return false
	case exit.At < t.At:
		return false
	case enter.At <= t.At:
		e.Brief, e.Left = true, exit.At
		return false
	}
	t = t.Later(enter)
	e.Progress, e.ProgressError = t.At, t.Error
	return true
}

// shortly is for how long, in nanoseconds, a rank may be outside MPI as if it were inside: between the calls of an exchange.
const shortly = 10_000

// stays notes that e was completed before its rank left MPI.
func (m *Matcher) stays(e *End) {
	p := &m.ranks[e.Post.Row].progress
	for i := len(p.waiting) - 1; i >= 0; i-- {
		if p.waiting[i] == e {
			p.waiting = slices.Delete(p.waiting, i, i+1)
			break
		}
	}
	e.awaiting, e.Brief = false, false
}

// moved notes that a rank is inside MPI.
func (m *Matcher) moved(c *Call, row int) {
	p := &m.ranks[row].progress
	enter, exit := Stamp{c.Enter, c.EnterError}, Stamp{c.Exit, c.ExitError}
	if exit.At >= p.exit.At {
		p.enter, p.exit, p.before = enter, exit, p.exit.At
	}
	if len(p.waiting) == 0 {
		return
	}
	left := p.waiting[:0]
	for _, e := range p.waiting {
		if !e.passes(enter, exit) {
			left = append(left, e)
			continue
		}
		e.awaiting = false
		if m.watcher != nil && !e.Open {
			m.watcher.Progressed(e)
		}
	}
	clear(p.waiting[len(left):])
	p.waiting = left
}
