package match

import (
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// A section with a known shape is reported to the handler location by location, not in order of
// time. State that the Matcher derives from the order of time is computed here from the time
// stamps:
//
//   - whether an operation was completed when its partner was posted,
//   - in which later call its rank was inside MPI (progress.go),
//   - which part of a collective is reported first.

// fits reports whether the next calls of the shape's locations are another occurrence of it, and
// stores their times. It checks the location of first before the others.
func (first *shapeMember) fits(ahead *timeline.Ahead[packed, *reader], m *Matcher) bool {
	s := first.shape
	if !s.memberFits(first, ahead, m) {
		return false
	}
	for i := range s.members {
		if one := &s.members[i]; one != first && !s.memberFits(one, ahead, m) {
			return false
		}
	}
	for i := range s.starts {
		one := &s.starts[i]
		if r := m.ranks[one.row].requests.get(one.id); r == nil || r.persistent != one.persistent {
			return false
		}
	}
	return true
}

func (s *shape) memberFits(own *shapeMember, ahead *timeline.Ahead[packed, *reader], m *Matcher) bool {
	if m.threads[own.location].attempt.On {
		return false
	}
	left := m.ranks[own.row].progress.exit.At
	for k := own.first; k < own.end; {
		run := ahead.From(int(own.location), int(k-own.first))
		if len(run.Calls) == 0 {
			return false
		}
		if k == own.first {
			own.begin = run.By.begin + uint64(run.Calls[0].Made.index)
		}
		enter := run.Enter
		for i := range run.Calls[:min(len(run.Calls), int(own.end-k))] {
			entry := &run.Calls[i]
			p := &entry.Made
			// a call nested in another one, by a callback, makes no progress
			if !s.isLike(k, run.By, p) || enter < left {
				return false
			}
			t := &s.times[k]
			t.enter, t.exit, t.enterError, t.exitError = enter, p.exit, p.enterError, p.exitError
			enter, left = entry.Next, p.exit
			k++
		}
	}
	return true
}

// evaluate reports the section whose times the shape holds to the handler, and leaves the matcher
// in the state that matching the section would have left.
func (s *shape) evaluate(m *Matcher, terminals []terminalPlan, see func(*Call)) {
	s.resetCompletions()
	for i := range s.messages {
		one := &s.messages[i]
		s.resetEnd(one.send, m)
		s.resetEnd(one.receive, m)
		s.move(one)
	}
	for i := range s.collectives {
		s.collectives[i].begin(s, m)
	}
	var c Call
	for i := range s.members {
		s.call(&s.members[i], m, terminals, see, &c)
	}
	for i := range s.messages {
		one := &s.messages[i]
		send, receive := &s.ends[one.send].end, &s.ends[one.receive].end
		m.message = Message{Send: send, Receive: receive, Comm: int(receive.channel.comm), Tag: receive.channel.tag, Bytes: receive.bytes}
		m.handler.Message(&m.message)
	}
	for i := range s.collectives {
		s.collectives[i].report(s, m)
	}
	for i := range s.completions {
		m.handler.Settled(&s.completions[i])
	}
	for i := range s.members {
		s.leave(&s.members[i], m)
	}
}

// set copies the times of the call to p.
func (t *callTimes) set(p *Point) {
	p.Enter, p.Exit, p.EnterError, p.ExitError = t.enter, t.exit, int64(t.enterError), int64(t.exitError)
}

// resetCompletions resets the completions to the times of the current occurrence.
func (s *shape) resetCompletions() {
	for i := range s.members {
		own := &s.members[i]
		for k := own.first; k < own.end; k++ {
			if n := s.slots[k].completes; n >= 0 {
				c, t := &s.completions[n], &s.times[k]
				t.set(&c.Point)
				c.Begin, c.Until, c.Error, c.Came, c.Cause, c.Kind = t.enter, 0, 0, 0, -1, 0
				c.Message, c.Oldest, c.Source, c.Tag = Stamp{}, Stamp{}, 0, nil
			}
		}
	}
}

// resetEnd resets an end to the times of the current occurrence.
func (s *shape) resetEnd(n int32, m *Matcher) {
	e := &s.ends[n]
	s.times[e.posted].set(&e.end.Post)
	e.end.Open, e.end.Brief, e.end.Left = false, false, 0
	e.end.Posted, e.end.Progressed, e.end.PostedAt = EventID{}, EventID{}, Interval{}
	if e.end.receive {
		if before := s.slots[e.posted].previous; before >= 0 {
			e.end.Before = s.times[before].exit
		} else {
			e.end.Before = m.ranks[e.end.Post.Row].progress.exit.At
		}
	}
}

// before reports whether the call of slot a comes before that of slot b in the order of the
// Matcher.
func (s *shape) before(a, b int32) bool {
	x, y := &s.slots[a], &s.slots[b]
	if x.member == y.member {
		return a < b
	}
	t, u := s.times[a].enter, s.times[b].enter
	return t < u || t == u && x.member < y.member // members are ordered by location
}

// move determines when the ranks of both ends of a message were inside MPI with both ends posted,
// as Matcher.both does.
func (s *shape) move(one *sectionMessage) {
	later, earlier := one.send, one.receive
	if sent, received := s.postedAt(later), s.postedAt(earlier); sent.Later(received) != sent {
		later, earlier = earlier, later
	}
	t := s.postedAt(later)
	met := s.ends[one.send].posted // the slot of the call after which both ends are in the channel
	if known := s.ends[one.receive].known; s.before(met, known) {
		met = known
	}
	s.moveLater(later, met, t)
	s.moveEarlier(earlier, met, t)
}

// postedAt returns the time at which an end was posted.
func (s *shape) postedAt(n int32) Stamp { return s.times[s.ends[n].posted].entered() }

// settled reports whether an end is already completed when it meets its partner: by an earlier
// call, or by the call that determines the envelope of a wildcard receive.
func (s *shape) settled(e *shapeEnd, met int32) bool {
	return s.before(e.done, met) || e.done == met && e.known != e.posted
}

// lastBefore returns the slot of the last call of the end's rank before the end met its partner.
func (s *shape) lastBefore(e *shapeEnd, met int32) int32 {
	at := e.posted
	for at != e.done {
		next := s.slots[at].following
		if next != met && !s.before(next, met) {
			break
		}
		at = next
	}
	return at
}

// moveLater handles the end that was posted last: its rank was inside MPI at that time
// (Matcher.last).
func (s *shape) moveLater(n, met int32, t Stamp) {
	e := &s.ends[n]
	e.end.Progress, e.end.ProgressError = t.At, t.Error
	if !s.settled(e, met) && s.lastBefore(e, met) == e.posted {
		e.end.Brief = true
		s.stay(n, e.posted)
	}
}

// moveEarlier handles the other end (Matcher.await).
func (s *shape) moveEarlier(n, met int32, t Stamp) {
	e := &s.ends[n]
	e.end.Progress, e.end.ProgressError = t.At, t.Error
	if s.settled(e, met) {
		return
	}
	at := s.lastBefore(e, met)
	if e.end.passes(s.times[at].entered(), s.times[at].left()) {
		return
	}
	for !e.end.Brief && at != e.done {
		at = s.slots[at].following
		if !e.end.passes(s.times[at].entered(), s.times[at].left()) {
			continue
		}
		if !e.end.Open {
			s.progress(n, at)
		}
		return
	}
	if e.end.Brief {
		s.stay(n, at)
	}
}

// stay follows an end whose rank is inside MPI with both ends posted, from the call of a slot on
// (comesBack).
func (s *shape) stay(n, at int32) {
	e := &s.ends[n]
	for at != e.done {
		left := s.times[at].exit
		at = s.slots[at].following
		if t := &s.times[at]; comesBack(left, t.entered(), t.left()) {
			e.end.back(left, t.entered())
			s.progress(n, at)
			return
		}
	}
	e.end.Brief = false
}

// progress records that the call of a slot progresses an end.
func (s *shape) progress(n, at int32) {
	s.ends[n].next, s.slots[at].progressing = s.slots[at].progressing, n
}

// call reports the calls of a location.
func (s *shape) call(own *shapeMember, m *Matcher, terminals []terminalPlan, see func(*Call), c *Call) {
	for k := own.first; k < own.end; k++ {
		at, t := &s.slots[k], &s.times[k]
		if see != nil {
			of := &terminals[at.terminal]
			c.Location, c.Index = int(own.location), own.begin+uint64(k-own.first)
			c.Enter, c.Exit, c.EnterError, c.ExitError = t.enter, t.exit, int64(t.enterError), int64(t.exitError)
			c.Function, c.Semantics, c.Signature, c.Poll, c.Terminal = of.function, of.semantics, of.signature, at.poll, at.terminal
			see(c)
		}
		if m.watcher != nil {
			s.watch(at, m.watcher)
		}
		at.progressing = -1
	}
}

// watch reports the effects of a call to a watcher, in the same order as Matcher.Call.
func (s *shape) watch(at *slot, w Watcher) {
	for n := at.progressing; n >= 0; n = s.ends[n].next {
		w.Progressed(&s.ends[n].end)
	}
	if at.completes >= 0 {
		w.Opened(&s.completions[at.completes])
	}
	for _, n := range s.posted[at.posts:at.postsUntil] {
		w.Posted(&s.ends[n].end)
	}
	if at.enters >= 0 {
		p := &s.parts[at.enters]
		w.Entered(s.collectives[p.instance].collective, int(p.part))
	}
}

// begin resets the collective to the current occurrence; all participants have entered it.
func (g *shapeInstance) begin(s *shape, m *Matcher) {
	m.collectives++
	c := g.collective
	*c = Collective{
		Number: m.collectives, Comm: int(g.comm), Class: g.class, Movement: g.movement, Root: g.root, First: -1, Last: -1, Tag: c.Tag, Parts: c.Parts,
		key: collectiveKey{comm: g.comm}, expected: g.present, arrived: g.present,
	}
	first, last := g.first, g.first
	for i := g.first; i < g.end; i++ {
		p := &s.parts[i]
		at := &c.Parts[p.part]
		s.times[p.posted].set(&at.Post)
		at.Done, at.Entered = nil, EventID{}
		if s.before(p.posted, s.parts[first].posted) {
			first = i
		}
		if after := s.times[p.posted].enter - s.times[s.parts[last].posted].enter; after > 0 || after == 0 && s.before(p.posted, s.parts[last].posted) {
			last = i // of equal entry times the first, as in arrive
		}
	}
	c.First, c.Last = int(s.parts[first].part), int(s.parts[last].part)
	m.order(c)
}

// report reports the parts of the collective: first those that were completed when the last
// participant entered, then the others in the order of their completion.
func (g *shapeInstance) report(s *shape, m *Matcher) {
	whole := s.parts[g.first].posted // slot of the last entry
	for i := g.first; i < g.end; i++ {
		if s.before(whole, s.parts[i].posted) {
			whole = s.parts[i].posted
		}
	}
	s.order = s.order[:0]
	c := g.collective
	for i := g.first; i < g.end; i++ {
		if p := &s.parts[i]; s.before(p.done, whole) {
			c.Parts[p.part].Done = s.completion(p)
		} else {
			s.order = append(s.order, i)
		}
	}
	for i := range c.Parts {
		if c.Parts[i].Done != nil {
			m.handler.Collective(c, i)
			c.Parts[i].Done = nil
		}
	}
	slices.SortFunc(s.order, func(a, b int32) int {
		if s.before(s.parts[a].done, s.parts[b].done) {
			return -1
		}
		return 1
	})
	for _, i := range s.order {
		p := &s.parts[i]
		c.Parts[p.part].Done = s.completion(p)
		m.handler.Collective(c, int(p.part))
		c.Parts[p.part].Done = nil
	}
	if m.watcher != nil {
		m.watcher.Retired(c)
	}
}

// completion returns the call that completed a part.
func (s *shape) completion(p *sectionPart) *Completion {
	return &s.completions[s.slots[p.done].completes]
}

// leave updates the matcher's state of a location to that after its calls.
func (s *shape) leave(own *shapeMember, m *Matcher) {
	for k := own.first; k < own.end; k++ {
		m.error = max(m.error, int64(s.times[k].enterError), int64(s.times[k].exitError))
		if n := s.slots[k].enters; n >= 0 {
			m.next(int(own.row), s.collectives[s.parts[n].instance].comm)
		}
	}
	if own.lastInterrupt >= 0 {
		m.threads[own.location].attempt.Skip(s.times[own.lastInterrupt].exit)
	}
	if own.last < 0 {
		return
	}
	p, t := &m.ranks[own.row].progress, &s.times[own.last]
	p.before = p.exit.At
	if before := s.slots[own.last].previous; before >= 0 {
		p.before = s.times[before].exit
	}
	p.enter, p.exit = t.entered(), t.left()
}
