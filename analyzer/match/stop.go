package match

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A Stopper is a Handler that receives the calls in which ranks ended, before the remaining
// operations are settled.
type Stopper interface {
	Handler
	Stopped([]Unreturned)
}

// A Poller is a Stopper that asks what unsuccessful tests at the end of the run waited for.
type Poller interface {
	Stopper
	Polled() []*timeline.Call
	Tested([]Unreturned) // one for each call of Polled
}

// An Unreturned is a call that never returned, because its rank ended in it, or an unsuccessful
// test.
type Unreturned struct {
	Point
	Comm  int    // of the call: index into Trace.Communicators; −1: the call has none
	Any   bool   // it would have returned as soon as one of Waits was done; otherwise all were needed
	Waits []Wait // what it waited for, if known
}

// A Wait is one operation that a call waited for.
type Wait struct {
	Post Point // the call that began the operation
	Send bool  // of a message: a send; otherwise a receive or a probe
	// For are the ranks in MPI_COMM_WORLD that had not yet done what the operation required. If it
	// is empty, all of them had begun. AnyOf: one of them would have been enough (MPI_ANY_SOURCE).
	For   []int
	AnyOf bool
	Comm  int   // −1: the world, for MPI_Init and MPI_Finalize
	Peer  int   // of a message: rank in MPI_COMM_WORLD; −1: any or unknown
	Tag   int64 // of a message; −1: any
	// Collective reports that the operation is collective. Ordinal is its number on Comm, from 0.
	Collective bool
	Ordinal    uint32
	// Unnumbered reports that it is collective, but has no number on Comm (−1: MPI_COMM_SELF):
	// MPI_Comm_disconnect; or the creation of a communicator by its members, which find each other
	// by Tag. For an intercommunicator it is that of the leaders, of which the remote one is Peer.
	Unnumbered bool
	// Lock reports that it is a lock of a window, on the target Peer (−1: the target is itself).
	// For are the ranks that may hold the lock; which of them does is not known. It is granted if
	// the holder releases it, or if the target enters MPI.
	Lock bool
	// Epoch reports that the call is on a window, and that Peer must begin or end an epoch.
	Epoch bool
	// Stray is an unreceived message from Peer with another tag or on another communicator, nil if
	// there is none.
	Stray *Stray
}

// A Stray is a message that was sent and never received.
type Stray struct {
	Post Point
	Comm int
	Tag  int64
}

// A stop is a call that never returned, during matching.
type stop struct {
	Point
	comm       int32
	own        int32
	any        bool
	requests   []request
	collective *Collective // that it entered, in addition to those of requests
	part       int
	probe      *prototype
	partners   []int32 // rows, for a call on a window
	lock       *neededLock
	drains     bool // until its buffered messages have been received
	meeting    *meeting
	proto      *prototype
}

// stop records a call that never returned: what it began is pending, and nothing that it waited for
// is done.
func (m *Matcher) stop(p *plan, c *Call, row int) {
	s := &stop{comm: c.comm, own: c.own, part: -1}
	if c.plan.action == ignore || c.idle {
		s.comm = -1
	}
	s.drains = p.Operation == semantics.SendBuffers && p.In[semantics.Buffer] < 0 // not MPI_Buffer_attach
	s.Point.set(c, row)
	m.stopped = append(m.stopped, s)
	if c.idle {
		if p.Operation == semantics.RemoteAccess || p.Synchronization == semantics.SyncFlush {
			s.lock = m.neededLock(p, c, row)
		}
		return
	}
	switch p.action {
	case send, receive, sendReceive, collective:
		if p.IsPersistent() || c.Signature.Untraced {
			return
		}
		proto := c.prototype
		s.proto = &proto
		var r request
		m.post(&r, &c.prototype, c, row)
		s.requests = append(s.requests, r)
	case probe, matchedProbe:
		proto := c.prototype
		s.probe = &proto
	case wait, waitAny, waitSome, waitAll:
		s.any = p.action == waitAny || p.action == waitSome
		s.pending(m, c, row)
	case matchedReceive:
		if e := m.ranks[row].messages[p.in(c.event, semantics.Message).Int]; e != nil {
			s.requests = append(s.requests, request{ends: [2]*End{nil, e}})
		}
	case requestStatus:
		action := p.completingAction(p.in(c.event, semantics.Request))
		s.any = action == waitAny || action == waitSome
		s.pending(m, c, row)
	case initialize, finalize:
		comm := int32(startupComm)
		if p.action == finalize {
			comm = shutdownComm
		}
		s.comm = comm
		s.collective, s.part = m.collective(collectiveKey{comm: comm}, p.class, len(m.ranks), len(m.ranks)), row
		m.arrive(s.collective, row, c, row)
	case createObject:
		proto := prototype{plan: p, comm: c.comm, own: c.own, root: noValue}
		s.collective, s.part = m.enter(&proto, nil, c, row)
	case onObject, freeObject:
		if o := m.object(p, c, row); o != nil {
			s.comm, s.own = o.comm, o.own
			if p.Completion == semantics.SplitEnd {
				s.collective, s.part = o.split, o.part
			} else {
				s.collective, s.part = m.enterOn(o, p.class, c, row)
			}
		}
	case epochStart, epochComplete, epochWait:
		if o := m.object(p, c, row); o != nil {
			s.comm, s.own = o.comm, o.own
			switch p.action {
			case epochStart:
				s.partners = m.members(row, p.in(c.event, semantics.Group))
			case epochComplete:
				s.partners = o.access
			default:
				s.partners = o.exposure
			}
		}
	case acquireLock, releaseLock:
		s.lock = m.neededLock(p, c, row)
	case createGroup, disconnect:
		s.meeting = m.meetingOf(p, c, row)
	case ignore, start, requestFree, epochPost, makeGroup, partitionReady, partitionArrived:
	}
}

// pending adds the requests of a call that are still active.
func (s *stop) pending(m *Matcher, c *Call, row int) {
	for i := range c.requests {
		if r := m.ranks[row].requests.get(c.requests[i].request); r != nil && r.active {
			s.requests = append(s.requests, *r)
		}
	}
}

// abandonStopped ends what calls that never returned had begun. The time of completion is unknown.
func (m *Matcher) abandonStopped() {
	for _, s := range m.stopped {
		if s.proto != nil {
			for i := range s.requests {
				m.completeRequest(&s.requests[i], nil, envelope{bytes: -1})
			}
		}
		if s.collective != nil {
			m.leave(s.collective, s.part, nil)
		}
	}
	m.stopped = nil
}

// unreturned returns what the calls that never returned waited for. It must be called before the
// remaining operations are settled.
func (m *Matcher) unreturned(stopped []*stop) []Unreturned {
	sent := map[receiverKey][]*channel{} // channels with unreceived messages, by receiver
	if len(stopped) > 0 {
		for i := range m.channels.slots {
			if ch := &m.channels.slots[i]; ch.used && ch.key.object == 0 && !ch.sends.empty() {
				k := receiverKey{dest: ch.key.dest}
				sent[k] = append(sent[k], ch)
			}
		}
	}
	list, meetings := make([]Unreturned, 0, len(stopped)), m.meetingsOf(stopped)
	for _, s := range stopped {
		u := Unreturned{Point: s.Point, Comm: int(s.comm), Any: s.any}
		for i := range s.requests {
			r := &s.requests[i]
			for k, e := range r.ends {
				if e == nil {
					continue
				}
				u.Waits = append(u.Waits, m.waitOf(e, s, k == 1, sent[receiverKey{dest: int32(s.Row)}]))
			}
			if r.collective != nil {
				u.Waits = append(u.Waits, m.waitIn(r.collective, r.part))
			}
		}
		if s.collective != nil {
			u.Waits = append(u.Waits, m.waitIn(s.collective, s.part))
		}
		if s.probe != nil && m.group(s.comm) != nil {
			key := channelKey{comm: s.comm, source: s.probe.source, dest: int32(s.Row), tag: s.probe.tag}
			u.Waits = append(u.Waits, m.waitFor(key, &s.Point, s.own, sent[receiverKey{dest: int32(s.Row)}]))
		}
		for _, row := range s.partners {
			if row >= 0 {
				rank := m.rankOf(int(row))
				u.Waits = append(u.Waits, Wait{Post: s.Point, For: []int{rank}, Comm: int(s.comm), Peer: rank, Tag: -1, Epoch: true})
			}
		}
		if s.lock != nil {
			u.Waits = append(u.Waits, m.waitForLock(s))
		}
		if s.meeting != nil {
			if w, known := m.waitForMeeting(s, meetings); known {
				u.Waits = append(u.Waits, w)
			}
		}
		if s.drains {
			u.Waits = append(u.Waits, m.waitForBuffers(s, sent)...)
		}
		list = append(list, u)
	}
	return list
}

// waitForBuffers returns the first of a rank's buffered sends on each channel whose message nobody
// has received.
func (m *Matcher) waitForBuffers(s *stop, sent map[receiverKey][]*channel) (list []Wait) {
	for _, channels := range sent {
		for _, ch := range channels {
			e := ch.sends.peek()
			if w := m.waitOf(e, s, false, nil); e.Post.Row == s.Row && e.Mode == semantics.Buffered && w.Peer >= 0 {
				w.For = []int{w.Peer}
				list = append(list, w)
			}
		}
	}
	slices.SortFunc(list, func(a, b Wait) int { return cmp.Compare(a.Post.Enter, b.Post.Enter) })
	return list
}

// tested returns what unsuccessful tests waited for: what the same calls would have, had they
// blocked.
func (m *Matcher) tested(tests []*timeline.Call) []Unreturned {
	if len(tests) == 0 {
		return nil
	}
	known := m.stopped
	m.stopped = nil
	reading := newReading(m.trace)
	for _, test := range tests {
		var c Call
		reading.reader(test.Location).read(test, true, &c)
		m.stop(c.plan, &c, m.threads[test.Location].row)
	}
	polled := m.unreturned(m.stopped)
	m.stopped = known
	return polled
}

func (m *Matcher) rankOf(row int) int { return int(m.trace.Ranks().Numbers().At(row)) }

// waitOf returns what an end of a message waited for.
func (m *Matcher) waitOf(e *End, s *stop, receive bool, sent []*channel) Wait {
	g := m.group(e.channel.comm)
	if receive {
		if e.partner != nil || e.settled {
			w := Wait{Post: e.Post, Comm: int(e.channel.comm), Peer: m.peerOf(g, s, e.channel.source), Tag: tagOf(e.channel.tag)}
			if e.partner != nil && e.partner.isUnready() {
				w.For = []int{m.rankOf(e.partner.Post.Row)}
			}
			return w
		}
		return m.waitFor(e.channel, &e.Post, int32(m.ownRank(e)), sent)
	}
	w := Wait{Post: e.Post, Send: true, Comm: int(e.channel.comm), Peer: -1, Tag: tagOf(e.channel.tag)}
	switch {
	case e.channel.dest >= 0:
		w.Peer = m.rankOf(int(e.channel.dest))
	case s.proto != nil: // the rank is not in the trace
		w.Peer = g.world(s.Row, int(s.own), int64(s.proto.dest))
	}
	switch {
	case e.isUnready():
		w.For = []int{m.rankOf(s.Row)}
	case e.partner == nil && w.Peer >= 0 && e.Mode != semantics.Buffered:
		w.For = []int{w.Peer}
	}
	return w
}

// waitFor returns what a receive or a probe waited for.
func (m *Matcher) waitFor(key channelKey, post *Point, own int32, sent []*channel) Wait {
	g := m.group(key.comm)
	w := Wait{Post: *post, Comm: int(key.comm), Tag: tagOf(key.tag), Peer: -1}
	if key.source != anyValue {
		w.Peer = g.world(int(key.dest), int(own), int64(key.source))
	}
	for _, ch := range sent {
		if ch.key.comm == key.comm && (key.source == anyValue || ch.key.source == key.source) && (key.tag == anyValue || ch.key.tag == key.tag) {
			return w // the message was sent
		}
		from := ch.sends.peek()
		if w.Stray == nil && w.Peer >= 0 && m.rankOf(from.Post.Row) == w.Peer {
			w.Stray = &Stray{Post: from.Post, Comm: int(ch.key.comm), Tag: ch.key.tag}
		}
	}
	if w.Peer >= 0 {
		w.For = []int{w.Peer}
		return w
	}
	if key.source == anyValue {
		w.AnyOf = true
		members := g.members
		if g.inter && !g.second(int(key.dest), int(own)) {
			members = g.remote
		}
		me := m.rankOf(int(key.dest))
		w.For = slices.DeleteFunc(members.Ranks(), func(rank int) bool { return rank == me })
	}
	return w
}

func (m *Matcher) peerOf(g *group, s *stop, source int32) int {
	if source < 0 || g == nil {
		return -1
	}
	return g.world(s.Row, int(s.own), int64(source))
}

// world returns the rank in MPI_COMM_WORLD that a caller addresses as rank, −1 if there is none.
func (g *group) world(row, own int, rank int64) int {
	members := g.members
	if g.inter && !g.second(row, own) {
		members = g.remote
	}
	if rank < 0 || rank >= int64(members.Len()) {
		return -1
	}
	return members.At(int(rank))
}

func tagOf(tag int64) int64 {
	if tag < 0 {
		return -1
	}
	return tag
}

// waitIn returns what a participant of a collective waited for: all ranks that had not entered; for
// a broadcast first the root.
func (m *Matcher) waitIn(c *Collective, part int) Wait {
	w := Wait{Comm: max(c.Comm, -1), Collective: true, Ordinal: c.key.ordinal, Peer: -1, Tag: -1, Post: c.Parts[part].Post}
	var members trace.RankList
	if c.Comm >= 0 {
		g := m.group(int32(c.Comm))
		members = append(slices.Clone(g.members), g.remote...)
	}
	rank := func(i int) int {
		if c.Comm < 0 {
			return m.rankOf(i)
		}
		return members.At(i)
	}
	if c.Class == OneToAll && c.Root >= 0 && c.Root != part && !c.Parts[c.Root].Present() {
		w.For = []int{rank(c.Root)}
		return w
	}
	for i := range c.Parts {
		if !c.Parts[i].Present() {
			w.For = append(w.For, rank(i))
		}
	}
	return w
}
