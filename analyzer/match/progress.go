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
	staying     []*End // those that are Brief, if they are not completed before the rank leaves
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
		e.Brief = true
		p.stay(e)
	}
}

// shortly is for how long, in nanoseconds, a rank may be outside MPI as if it were inside: between the calls of an exchange.
const shortly = 10_000

// stay notes that the rank is inside MPI with both sides of e posted.
func (p *progress) stay(e *End) {
	e.awaiting, e.place = true, int32(len(p.staying))
	p.staying = append(p.staying, e)
}

// completed tells that an end is completed that had not been moved: nobody waits for its rank any more. If the rank was
// inside MPI, it did not leave before.
func (p *progress) completed(e *End) {
	e.awaiting = false
	if !e.Brief { // rounding leaves open where its rank was
		p.waiting = slices.DeleteFunc(p.waiting, func(other *End) bool { return other == e })
		return
	}
	last := len(p.staying) - 1
	p.staying[e.place] = p.staying[last]
	p.staying[e.place].place = e.place
	p.staying[last] = nil
	p.staying = p.staying[:last]
	e.Brief = false
}

// comesBack notes, if the rank has been outside MPI since its last call, when it had left and that it is back.
func (m *Matcher) comesBack(p *progress, enter, exit Stamp) {
	if len(p.staying) == 0 || !comesBack(p.exit.At, enter, exit) {
		return
	}
	for _, e := range p.staying {
		e.awaiting = false
		e.back(p.exit.At, enter)
		if m.watcher != nil {
			m.watcher.Progressed(e)
		}
	}
	clear(p.staying)
	p.staying = p.staying[:0]
}

// comesBack reports whether a rank that left MPI was outside before its next call.
func comesBack(left int64, enter, exit Stamp) bool {
	return enter.At-left > shortly+2*(enter.Error+exit.Error)
}

// back notes that the end's rank had left MPI and is back.
func (e *End) back(left int64, enter Stamp) {
	e.Left, e.Progress, e.ProgressError = left, enter.At, enter.Error
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
	if e.Brief {
		p.stay(e)
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
	case exit.At != t.At && !t.After(exit) && !exit.After(t):
		e.Open, e.Left = true, exit.At
		return false
	case exit.At < t.At:
		return false
	case enter.At <= t.At:
		e.Brief = true
		return false
	}
	t = t.Later(enter)
	e.Progress, e.ProgressError = t.At, t.Error
	return true
}

// moved notes that a rank is inside MPI.
func (m *Matcher) moved(c *Call, row int) {
	p := &m.ranks[row].progress
	enter, exit := Stamp{c.Enter, c.EnterError}, Stamp{c.Exit, c.ExitError}
	m.comesBack(p, enter, exit)
	if exit.At >= p.exit.At {
		p.enter, p.exit, p.before = enter, exit, p.exit.At
	}
	if len(p.waiting) == 0 {
		return
	}
	left := p.waiting[:0]
	for _, e := range p.waiting {
		if !e.passes(enter, exit) {
			if e.Brief {
				p.stay(e)
			} else {
				left = append(left, e)
			}
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
