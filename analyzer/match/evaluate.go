package match

import (
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// The handler is told of a section with a known shape location by location, not in the order of time. What depends on that
// order in the Matcher is worked out from the times: whether an operation was completed when the other side came, in which call
// its rank was inside MPI after that (progress.go), and whose part of a collective is reported first.

// fits reports whether the next calls of the shape's locations are those of another trip, and takes their times. The location
// is asked first.
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
			if !s.isLike(k, run.By, p) || enter < left { // one that is inside another call, of a callback, moves nobody
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

// evaluate tells the handler of the section whose times the shape has, and leaves the matcher as if it had matched it.
func (s *shape) evaluate(m *Matcher, terminals []terminalPlan, see func(*Call)) {
	s.lay()
	for i := range s.messages {
		one := &s.messages[i]
		s.layEnd(one.send, m)
		s.layEnd(one.receive, m)
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

// set makes a point that of a call of the present trip.
func (t *moments) set(p *Point) {
	p.Enter, p.Exit, p.EnterError, p.ExitError = t.enter, t.exit, int64(t.enterError), int64(t.exitError)
}

// lay puts the times into the calls that complete something.
func (s *shape) lay() {
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

// layEnd puts them into an end.
func (s *shape) layEnd(n int32, m *Matcher) {
	e := &s.ends[n]
	s.times[e.posted].set(&e.end.Post)
	e.end.Open, e.end.Brief, e.end.Left = false, false, 0
	e.end.Posted, e.end.Progressed, e.end.PostedAt = Mark{}, Mark{}, Interval{}
	if e.end.receive {
		if before := s.slots[e.posted].previous; before >= 0 {
			e.end.Before = s.times[before].exit
		} else {
			e.end.Before = m.ranks[e.end.Post.Row].progress.exit.At
		}
	}
}

// before reports whether a slot's call comes before another's in the order in which the Matcher has them.
func (s *shape) before(a, b int32) bool {
	x, y := &s.slots[a], &s.slots[b]
	if x.member == y.member {
		return a < b
	}
	t, u := s.times[a].enter, s.times[b].enter
	return t < u || t == u && x.member < y.member // members are in the order of locations
}

// move finds out when the ranks of both ends of a message were inside MPI with both posted, as Matcher.both does.
func (s *shape) move(one *sectionMessage) {
	later, earlier := one.send, one.receive
	if sent, received := s.postedAt(later), s.postedAt(earlier); sent.Later(received) != sent {
		later, earlier = earlier, later
	}
	t := s.postedAt(later)
	met := s.ends[one.send].posted // by the call of this slot both ends have their places
	if known := s.ends[one.receive].known; s.before(met, known) {
		met = known
	}
	s.moveLater(later, met, t)
	s.moveEarlier(earlier, met, t)
}

// postedAt is when an end was posted.
func (s *shape) postedAt(n int32) Stamp { return s.times[s.ends[n].posted].entered() }

// settled reports whether an end is completed when it meets its partner: before, or by the call that tells a receive with a
// wildcard whose message it got.
func (s *shape) settled(e *shapeEnd, met int32) bool {
	return s.before(e.done, met) || e.done == met && e.known != e.posted
}

// lastBefore is the call in which the rank of an end was last when it met its partner.
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

// moveLater is for the end that was posted last: its rank was inside MPI then (Matcher.last).
func (s *shape) moveLater(n, met int32, t Stamp) {
	e := &s.ends[n]
	e.end.Progress, e.end.ProgressError = t.At, t.Error
	if !s.settled(e, met) && s.lastBefore(e, met) == e.posted {
		e.end.Brief = true
		s.stay(n, e.posted)
	}
}

// moveEarlier is for the other one (Matcher.await).
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

// stay follows an end whose rank is inside MPI with both sides posted, in the call of a slot (comesBack).
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

// progress notes that the call of a slot moves an end.
func (s *shape) progress(n, at int32) {
	s.ends[n].next, s.slots[at].progressing = s.slots[at].progressing, n
}

// call tells of the calls of a location.
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

// watch tells a watcher of what a call does, in the order in which Matcher.Call does.
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

// begin makes the collective that of the present trip, which all have entered.
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
		at.Done, at.Entered = nil, Mark{}
		if s.before(p.posted, s.parts[first].posted) {
			first = i
		}
		if after := s.times[p.posted].enter - s.times[s.parts[last].posted].enter; after > 0 || after == 0 && s.before(p.posted, s.parts[last].posted) {
			last = i // the first of those that entered at the same time: see arrive
		}
	}
	c.First, c.Last = int(s.parts[first].part), int(s.parts[last].part)
	m.order(c)
}

// report tells of the parts of the collective. Those that were completed when the last one entered come first.
func (g *shapeInstance) report(s *shape, m *Matcher) {
	whole := s.parts[g.first].posted // by the call of this slot
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

// completion is the call that completed a part.
func (s *shape) completion(p *sectionPart) *Completion {
	return &s.completions[s.slots[p.done].completes]
}

// leave leaves the matcher's state of a location as the calls leave it.
func (s *shape) leave(own *shapeMember, m *Matcher) {
	for k := own.first; k < own.end; k++ {
		m.error = max(m.error, int64(s.times[k].enterError), int64(s.times[k].exitError))
		if n := s.slots[k].enters; n >= 0 {
			m.next(int(own.row), s.collectives[s.parts[n].instance].comm)
		}
	}
	if own.asked >= 0 {
		m.threads[own.location].attempt.Skip(s.times[own.asked].exit)
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
