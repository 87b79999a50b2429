package match

import (
	"slices"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// Collective calls that are not numbered on a communicator: MPI_Comm_create_group and
// MPI_Intercomm_create, whose callers find each other by a tag, and MPI_Comm_disconnect. What such
// a call waited for, if it never returned, follows from the calls of the others that have not
// returned either, and from those that have.

// A meeting is such a call of a rank that never returned.
type meeting struct {
	plan    *plan
	members []int32 // rows that make the call together, of an intercommunicator the local ones; nil: unknown
	tag     int64
	// Of MPI_Intercomm_create: the row of the local leader, and the rank in MPI_COMM_WORLD of the
	// remote one; −1 if it is not known, for the local leader's own call.
	leader int32
	remote int
	before uint32 // calls of MPI_Comm_disconnect on this communicator that returned before
}

// The arguments of MPI_Intercomm_create whose roles no other function has.
const (
	localLeader = iota + 1
	peerComm
	remoteLeader
)

// meetingOf reads a call that never returned.
func (m *Matcher) meetingOf(p *plan, c *Call, row int) *meeting {
	s := &meeting{plan: p, tag: -1, leader: -1, remote: -1}
	if p.In[semantics.Tag] >= 0 {
		s.tag = number(p.in(c.event, semantics.Tag))
	}
	g := m.group(c.comm)
	if comm := p.in(c.event, semantics.Communicator); comm.Form == trace.Name && comm.Text == "MPI_COMM_SELF" {
		g = &group{local: []int32{int32(row)}} // the trace need not have it
	}
	switch {
	case g == nil:
	case p.action == disconnect:
		if s.members = g.local; len(g.other) > 0 { // otherwise all ranks share one list
			s.members = slices.Concat(g.local, g.other)
		}
		s.before = m.ranks[row].disconnected[c.comm]
	case p.Creation == semantics.FromMembers:
		s.members = m.members(row, p.in(c.event, semantics.Group))
	case p.Creation == semantics.Intercommunicator && p.In[semantics.Tag] >= 0 && !g.inter:
		s.members = g.local
		if i := number(argument(c.event.In, localLeader)); i >= 0 && i < int64(len(g.local)) {
			s.leader = g.local[i]
		}
		if peer := argument(c.event.In, peerComm); peer.Form == trace.Name && peer.Text == "MPI_COMM_WORLD" {
			s.remote = int(number(argument(c.event.In, remoteLeader)))
		}
		if s.leader < 0 {
			s.members = nil
		}
	}
	if slices.Contains(s.members, -1) || !slices.Contains(s.members, int32(row)) {
		s.members = nil
	}
	return s
}

// isUnclear reports whether it is not known which other calls the call belongs to.
func (s *stop) isUnclear() bool {
	return s.meeting != nil && (s.meeting.members == nil || s.leads() && s.meeting.remote < 0)
}

// waitForMeeting returns what such a call waited for: the ranks that had not begun the same. It
// returns false if that is not known.
func (m *Matcher) waitForMeeting(s *stop, stopped stopsByRank) (Wait, bool) {
	w, known := m.waitForOthers(s, stopped)
	return w, known && !slices.ContainsFunc(w.For, func(rank int) bool {
		return slices.ContainsFunc(stopped[rank], func(o *stop) bool { return o.isUnclear() && o.isLike(s) })
	})
}

// stopsByRank are the calls of meetings that never returned.
type stopsByRank map[int][]*stop

// meetingsOf returns those of all calls that never returned.
func (m *Matcher) meetingsOf(stopped []*stop) stopsByRank {
	by := stopsByRank{}
	for _, s := range stopped {
		if s.meeting != nil {
			rank := m.rankOf(s.Row)
			by[rank] = append(by[rank], s)
		}
	}
	return by
}

// of returns the call of a rank to which something applies; nil: there is none.
func (by stopsByRank) of(rank int, applies func(o *stop) bool) *stop {
	if i := slices.IndexFunc(by[rank], applies); i >= 0 {
		return by[rank][i]
	}
	return nil
}

func (m *Matcher) waitForOthers(s *stop, stopped stopsByRank) (Wait, bool) {
	w := Wait{Post: s.Point, Comm: int(s.comm), Peer: -1, Tag: s.meeting.tag, Unnumbered: true}
	if s.meeting.members == nil {
		return w, false
	}
	met := m.metBy(s)
	absent := func(like *stop) {
		for _, row := range like.meeting.members {
			if rank := m.rankOf(int(row)); !met(row) && stopped.of(rank, func(o *stop) bool { return o.meets(like) }) == nil {
				w.For = append(w.For, rank)
			}
		}
	}
	absent(s)
	if s.meeting.leader < 0 || met(s.meeting.leader) {
		return w, true
	}
	// Of the remote group only the local leader knows.
	leader := stopped.of(m.rankOf(int(s.meeting.leader)), func(o *stop) bool { return o.meets(s) })
	if leader == nil || leader.isUnclear() {
		return w, len(w.For) > 0
	}
	w.Peer, w.Tag = leader.meeting.remote, leader.meeting.tag
	if remote := stopped.of(w.Peer, func(o *stop) bool { return o.leads() && m.answers(o, leader) }); remote != nil {
		absent(remote)
	} else if row := m.trace.Ranks().Find(w.Peer); row < 0 || !met(int32(row)) {
		w.For = append(w.For, w.Peer)
	}
	return w, true
}

// meets reports whether a call is, in its group, one with another.
func (s *stop) meets(o *stop) bool {
	a, b := s.meeting, o.meeting
	if a == nil || !s.isLike(o) || s.comm != o.comm {
		return false
	}
	// the tag of MPI_Intercomm_create is that of the leaders
	return a.leader == b.leader && a.before == b.before && (a.leader >= 0 || a.tag == b.tag && slices.Equal(a.members, b.members))
}

// isLike reports whether two such calls are of the same function.
func (s *stop) isLike(o *stop) bool {
	a, b := s.meeting.plan, o.meeting.plan
	return a.action == b.action && a.Creation == b.Creation
}

// leads reports whether the call is that of a local leader.
func (s *stop) leads() bool { return s.meeting != nil && s.meeting.leader == int32(s.Row) }

// answers reports whether a leader's call is the other one's that it waits for.
func (m *Matcher) answers(o, leader *stop) bool {
	return o.meeting.remote == m.rankOf(leader.Row) && o.meeting.tag == leader.meeting.tag
}

// metBy returns whether ranks have returned from the call that a rank never returned from.
func (m *Matcher) metBy(s *stop) func(row int32) bool {
	if s.meeting.plan.action == disconnect {
		return func(row int32) bool { return m.ranks[row].disconnected[s.comm] > s.meeting.before }
	}
	met := map[int32]bool{}
	for key, c := range m.pending {
		g := m.group(key.comm)
		if !key.created || g == nil || g.inter != (s.meeting.leader >= 0) {
			continue
		}
		rows := slices.Concat(g.local, g.other)
		if own := slices.Index(rows, int32(s.Row)); own < 0 || c.Parts[own].Present() {
			continue
		}
		if slices.Equal(g.local, s.meeting.members) || slices.Equal(g.other, s.meeting.members) {
			for k, row := range rows {
				if c.Parts[k].Present() {
					met[row] = true
				}
			}
		}
	}
	return func(row int32) bool { return met[row] }
}

// disconnect handles MPI_Comm_disconnect. MPI libraries need not synchronize in it, so that nothing
// is matched.
func (m *Matcher) disconnect(c *Call, row int) {
	r := &m.ranks[row]
	if r.disconnected == nil {
		r.disconnected = map[int32]uint32{}
	}
	r.disconnected[c.comm]++
}
