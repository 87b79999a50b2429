package match

import "slices"

// Progress. Unless a network card or a helper thread does it, MPI transfers a message that is too
// large for the eager protocol only while both sides are inside MPI. A receive that was posted
// early, or a nonblocking send, does not help while its rank computes: the other side waits until
// that rank calls MPI again, whatever the call is.

// progress is the recent history of a rank inside MPI.
type progress struct {
	enter, exit Stamp  // of the call with the latest exit
	before      int64  // exit of the call before it
	waiting     []*End // matched ends of this rank that no call has progressed yet
	staying     []*End // ends that become Brief unless they are completed before the rank leaves MPI
}

// both records that both sides of a message are posted. The rank that posted last is inside MPI.
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

// last records that the rank of e, which was posted last, was inside MPI at t.
func (m *Matcher) last(e *End, t Stamp) {
	e.Progress, e.ProgressError = t.At, t.Error
	if p := &m.ranks[e.Post.Row].progress; !e.settled && p.enter.At == e.Post.Enter {
		e.Brief = true
		p.stay(e)
	}
}

// maxGap is the time in nanoseconds that a rank may be outside MPI and still count as inside: the
// time between the calls of an exchange.
const maxGap = 10_000

// stay records that the rank is inside MPI with both sides of e posted.
func (p *progress) stay(e *End) {
	e.awaiting, e.index = true, int32(len(p.staying))
	p.staying = append(p.staying, e)
}

// completed removes an end that was completed before it was progressed: no rank waits for it any
// more. If its rank was inside MPI, it did not leave before the completion.
func (p *progress) completed(e *End) {
	e.awaiting = false
	if !e.Brief { // because of rounding it is undecided where its rank was
		p.waiting = slices.DeleteFunc(p.waiting, func(other *End) bool { return other == e })
		return
	}
	last := len(p.staying) - 1
	p.staying[e.index] = p.staying[last]
	p.staying[e.index].index = e.index
	p.staying[last] = nil
	p.staying = p.staying[:last]
	e.Brief = false
}

// comesBack records the rank's exit from and return to MPI, if it was outside since its last call.
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
	return enter.At-left > maxGap+2*(enter.Error+exit.Error)
}

// back records that the end's rank had left MPI and has returned.
func (e *End) back(left int64, enter Stamp) {
	e.Left, e.Progress, e.ProgressError = left, enter.At, enter.Error
}

// await determines when the rank of e, which was posted before t, is inside MPI at or after t.
func (m *Matcher) await(e *End, t Stamp) {
	e.Progress, e.ProgressError = t.At, t.Error
	if e.settled {
		return // it did not have to wait for progress
	}
	p := &m.ranks[e.Post.Row].progress
	// unless it is still in the call that posted it
	if p.enter.At >= e.Post.Enter && e.passes(p.enter, p.exit) {
		return
	}
	if e.Brief {
		p.stay(e)
		return
	}
	e.awaiting = true
	p.waiting = append(p.waiting, e)
}

// passes reports whether e's rank was inside a call, or entered it, after both sides had been
// posted, and records the time. Because of rounding, a rank that seems to have left before may
// still have been inside, and vice versa. Then the end stays undecided until the rank's next call.
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

// moved records that a rank is inside MPI.
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
