package match

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/polling"
)

// A shape is the common part of a section and its repetitions in later iterations of the same
// loops: the calls of each location, the matching of messages, which call completes what, and the
// participants of collectives. Where the next calls of the same locations are the same, nothing of
// that has to be determined again; only the times are evaluated (evaluate.go).
//
// Because a section does not interact with the rest, the equality of its calls is sufficient. At
// its beginning no channel has unmatched ends, no request is pending except inactive persistent
// ones, and no wildcard receive is open.
type shape struct {
	members     []shapeMember
	slots       []slot    // calls, grouped by location
	contents    []content // by slot; empty if all calls are known (knownCalls)
	times       []callTimes
	posted      []int32 // ends, ordered by the slots that post them
	ends        []shapeEnd
	completions []Completion // ordered by the slots that complete them
	messages    []sectionMessage
	collectives []shapeInstance
	parts       []sectionPart // ordered by operation; posted and done are slots
	starts      []startedRequest
	synchronous bool    // all locations leave it with a collective operation
	order       []int32 // scratch for report
}

// A shapeMember is the part of a shape that belongs to one location.
type shapeMember struct {
	begin         uint64 // index of its first call in the current occurrence
	shape         *shape
	next          *shapeMember // member of the shape that followed this one the last time
	location, row int32
	first, end    int32 // slots
	last          int32 // slot of the last call that is not idle, −1: all are
	lastInterrupt int32 // slot of the last call that interrupts polling, −1: none does
}

// A slot is a call of the shape.
type slot struct {
	terminal    int32
	flags       packedFlags
	poll        polling.Poll
	member      int32
	previous    int32 // slot of the location's previous call that is not idle, −1: none
	following   int32 // and of the next one
	completes   int32 // index into completions, −1: none
	enters      int32 // index into parts, −1: none
	posts       int32 // posts and postsUntil delimit its ends in posted
	postsUntil  int32
	progressing int32 // the first end that the call progresses in the current occurrence, −1: none
}

// A content is the part of a slot's calls that the terminal does not determine.
type content struct {
	packed   packed
	requests []completed
}

// A shapeEnd is a send or a receive.
type shapeEnd struct {
	end          End
	posted, done int32 // slots
	known        int32 // the slot with which it entered its channel
	next         int32 // the next end that the same call progresses, −1: none
}

// callTimes are the times of a call in the current occurrence.
type callTimes struct {
	enter, exit           int64
	enterError, exitError uint32
}

func (t *callTimes) entered() Stamp { return Stamp{t.enter, int64(t.enterError)} }
func (t *callTimes) left() Stamp    { return Stamp{t.exit, int64(t.exitError)} }

// A shapeInstance is a collective operation of the shape.
type shapeInstance struct {
	sectionInstance
	first, end int32 // parts
	collective *Collective
}

// A startedRequest is a persistent request that the shape starts. The shape fits only if it is the
// same request.
type startedRequest struct {
	row        int32
	id         int64
	persistent *persistent
}

// newShape returns the shape of the section that a closure has found.
func newShape(c *closure) *shape {
	s := &shape{synchronous: c.synchronizes()}
	base := make(map[int32]int32, len(c.members)) // the first slot of each location
	for _, m := range c.members {
		base[m.location] = int32(len(s.slots))
		s.addMember(c, m)
	}
	s.times = make([]callTimes, len(s.slots))
	s.addCompletions(c, base)
	s.addEnds(c, base)
	s.addInstances(c, base)
	for i := range s.members {
		s.members[i].shape = s
	}
	return s
}

// addMember adds the calls of a location.
func (s *shape) addMember(c *closure, m *member) {
	own := shapeMember{location: m.location, row: m.row, first: int32(len(s.slots)), last: -1, lastInterrupt: -1}
	for taken := 0; taken < m.calls; {
		run := c.ahead.From(int(m.location), taken)
		for i := range run.Calls[:min(len(run.Calls), m.calls-taken)] {
			p := &run.Calls[i].Made
			one := slot{
				terminal: p.terminal, flags: p.flags, poll: p.poll, member: int32(len(s.members)),
				previous: own.last, following: -1, completes: -1, enters: -1, progressing: -1,
			}
			n := int32(len(s.slots))
			s.addContent(n, run.By, p)
			if p.flags&packedIdle == 0 {
				if own.last >= 0 {
					s.slots[own.last].following = n
				}
				own.last = n
			}
			if p.poll.Kind() != polling.Aside {
				own.lastInterrupt = n
			}
			s.slots = append(s.slots, one)
			taken++
		}
	}
	for _, id := range m.started {
		s.starts = append(s.starts, startedRequest{m.row, id, c.matcher.ranks[m.row].requests.get(id).persistent})
	}
	own.end = int32(len(s.slots))
	s.members = append(s.members, own)
}

// addContent adds the content of a slot's calls, if it must be compared.
func (s *shape) addContent(n int32, by *reader, p *packed) {
	if p.flags&(packedKnown|packedIdle) != 0 {
		return
	}
	for len(s.contents) <= int(n) {
		s.contents = append(s.contents, content{})
	}
	s.contents[n].packed = *p
	if p.hasRequests() {
		s.contents[n].requests = slices.Clone(by.requests[p.first:p.after])
	}
}

// addCompletions adds the calls that may complete operations.
func (s *shape) addCompletions(c *closure, base map[int32]int32) {
	for _, one := range c.found.completing {
		s.slots[base[one.location]+one.call].completes = 0
	}
	for i := range s.members {
		m := &s.members[i]
		for k := m.first; k < m.end; k++ {
			if s.slots[k].completes == 0 {
				s.slots[k].completes = int32(len(s.completions))
				s.completions = append(s.completions, Completion{Point: s.point(c, k)})
			}
		}
	}
}

// addEnds adds sends and receives and their messages.
func (s *shape) addEnds(c *closure, base map[int32]int32) {
	s.ends, s.messages = make([]shapeEnd, len(c.found.ends)), slices.Clone(c.found.messages)
	for i := range c.found.ends {
		made, e := &c.found.ends[i], &s.ends[i]
		first := base[made.location]
		e.posted, e.done, e.known, e.next = first+made.posted, first+made.done, first+made.known, -1
		e.end = End{
			Post: s.point(c, e.posted), Done: &s.completions[s.slots[e.done].completes], Mode: made.mode,
			receive: made.receive, channel: made.channel, bytes: made.bytes, settled: true,
		}
		s.slots[e.posted].postsUntil++
	}
	s.posted = make([]int32, len(s.ends))
	n := int32(0)
	for i := range s.slots {
		at := &s.slots[i]
		at.posts, n = n, n+at.postsUntil
		at.postsUntil = at.posts
	}
	for i := range s.ends {
		at := &s.slots[s.ends[i].posted]
		s.posted[at.postsUntil] = int32(i)
		at.postsUntil++
	}
}

// addInstances adds collective operations.
func (s *shape) addInstances(c *closure, base map[int32]int32) {
	f := &c.found
	s.parts = slices.Clone(f.parts)
	slices.SortFunc(s.parts, func(a, b sectionPart) int {
		return cmp.Or(cmp.Compare(a.instance, b.instance), cmp.Compare(a.part, b.part))
	})
	for i := range f.collectives {
		g := shapeInstance{sectionInstance: f.collectives[i], collective: new(Collective)}
		g.collective.Parts = make([]Part, g.size)
		for k := range g.collective.Parts {
			g.collective.Parts[k].Post.Location = -1
		}
		s.collectives = append(s.collectives, g)
	}
	for i := range s.parts {
		p := &s.parts[i]
		p.posted, p.done = base[p.location]+p.posted, base[p.location]+p.done
		s.slots[p.posted].enters = int32(i)
		g := &s.collectives[p.instance]
		if g.end == 0 {
			g.first = int32(i)
		}
		g.end = int32(i) + 1
		g.collective.Parts[p.part].Post, g.collective.Parts[p.part].Bytes = s.point(c, p.posted), p.bytes
	}
}

// point returns the Point of a slot's calls, without the times.
func (s *shape) point(c *closure, k int32) Point {
	at := &s.slots[k]
	m, of := &s.members[at.member], &c.terminals[at.terminal]
	return Point{Location: int(m.location), Row: int(m.row), Function: of.function.ID, Site: of.signature.Site}
}

// hasRequests reports whether the call has its own requests, instead of those of all calls of its
// terminal.
func (p *packed) hasRequests() bool {
	return p.flags&(packedKnown|packedIdle|packedRequest|packedWhole) == 0
}

// appendContent appends the data that isLike compares.
func (p *packed) appendContent(b []byte, by *reader) []byte {
	put := func(values ...int64) {
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
	}
	put(int64(p.terminal)<<16 | int64(p.flags)<<8 | int64(p.poll))
	if p.flags&(packedKnown|packedIdle) != 0 {
		return b
	}
	put(int64(p.comm), int64(p.own), int64(p.peer), int64(p.source), int64(p.tag))
	if p.flags&packedRequest != 0 {
		put(int64(p.first))
	}
	if p.hasRequests() {
		for _, r := range by.requests[p.first:p.after] {
			put(r.request, int64(r.source), r.tag, r.bytes)
		}
	}
	return b
}

// isLike reports whether a call is one of the slot's calls.
func (s *shape) isLike(k int32, by *reader, p *packed) bool {
	if at := &s.slots[k]; p.terminal != at.terminal || p.flags != at.flags || p.poll != at.poll {
		return false
	}
	return p.flags&(packedKnown|packedIdle) != 0 || s.contents[k].isLike(by, p)
}

func (c *content) isLike(by *reader, p *packed) bool {
	q := &c.packed
	if p.flags&packedWhole != 0 || p.comm != q.comm || p.own != q.own || p.peer != q.peer || p.source != q.source || p.tag != q.tag {
		return false
	}
	if p.flags&packedRequest != 0 {
		return p.first == q.first
	}
	return slices.Equal(by.requests[p.first:p.after], c.requests)
}
