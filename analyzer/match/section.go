package match

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// A section is a part of a run that does not interact with the rest: successive calls of some
// locations, such that everything that begins in it is matched and completed in it. It can be
// matched independently of what other ranks did at the time, and before or after other sections.
//
// A closure finds the smallest section that contains a location's next call. It adds calls of a
// location as long as the location has something pending. The other side of each message and the
// participants of each collective join, until nothing is missing. As in the Matcher, only order
// counts; the Matcher then matches the section.
type closure struct {
	ahead     *timeline.Ahead[packed, *reader]
	matcher   *Matcher
	terminals []terminalPlan
	locations []int32 // by row: its only location
	everybody []int32 // all rows

	members     []*member // in the order in which they joined
	of          []member  // by location
	channels    map[channelKey]waiting
	collectives map[collectiveKey]*collectiveInstance
	unsettled
	calls   int  // calls so far
	plain   bool // it may have a shape; see shape.go
	found   events
	present Call
}

// unsettled lists what may still be incomplete in the section.
type unsettled struct {
	crossings   []channelKey
	collectives []*collectiveInstance
}

// A member is the part of a section that belongs to one location.
type member struct {
	location, row int32
	joined        bool
	collective    bool // its latest call that involves others is a collective
	calls         int  // number of its next calls
	open          int  // pending operations
	requests      []pendingRequest
	ordinals      []entered // of collectives, counted from the beginning of the section
	started       []int64   // persistent requests from before the section
	postedQueues  []postedReceives
}

// A postedReceives is the receives of one communicator from the first one with an open wildcard on
// (postedQueue).
type postedReceives struct {
	comm int32
	ends []int32
}

// A pendingRequest is a request that was made or started in the section.
type pendingRequest struct {
	id         int64
	persistent bool
	prototype  prototype // of a persistent request
	active     bool
	ends       [2]int32 // index into events.ends, −1: none
	part       int32    // of a collective: index into events.parts, −1: none
}

// waiting is the unmatched sends or receives of a channel: indices of the first (−1: none) and the
// last one in events.ends.
type waiting struct{ first, last int32 }

// A collectiveInstance is a collective that some participants have entered.
type collectiveInstance struct {
	number  int // index in the section
	comm    int32
	members []int32 // rows of the communicator, by part; −1: not in the trace
	entered []bool
	missing int
	next    int // all parts before it have entered
}

// events are the events of a section. Calls are numbered per location, from the start of the
// section.
type events struct {
	ends        []sectionEnd
	messages    []sectionMessage
	collectives []sectionInstance
	parts       []sectionPart
	// completing are the calls that may complete operations.
	completing []sectionCall
}

// A sectionCall is a call of a location.
type sectionCall struct{ location, call int32 }

// A sectionEnd is a send or a receive of the section.
type sectionEnd struct {
	location     int32
	posted, done int32 // calls
	known        int32 // the call with which it entered its channel: for a receive behind open wildcards a later one
	next         int32 // next in the channel, −1: none
	mode         semantics.Mode
	receive      bool
	wildcard     bool // its envelope is not known yet
	channel      channelKey
	bytes        int64 // of a receive, from the call that completed it
}

// A sectionMessage is a matched send and receive, as indices into events.ends.
type sectionMessage struct{ send, receive int32 }

// A sectionInstance is a collective operation.
type sectionInstance struct {
	class         Class
	movement      semantics.Movement
	comm          int32
	size, present int
	root          int
}

// A sectionPart is a rank's share in a collective.
type sectionPart struct {
	instance     int32
	part         int32
	location     int32
	posted, done int32 // calls
	bytes        int64
}

// A section has at most maxSection calls, plus maxSectionPerLocation for each location. Longer
// ones, and parts of the run where no section ends, are matched in order of time.
const (
	maxSection            = 1 << 15
	maxSectionPerLocation = 64
	maxLocations          = 8192
	maxIdle               = 64   // successive calls that involve no other location
	maxRequests           = 1024 // of a location at a time
)

// newClosure returns nil if ranks have several threads, because the location of a message's other
// end is then unknown until it is decoded. It also returns nil with more than maxLocations
// locations: their decoders take a gigabyte, and look-ahead and shapes would add a tenth.
func newClosure(t timeline.Trace, ahead *timeline.Ahead[packed, *reader], m *Matcher, terminals []terminalPlan) *closure {
	locations := timeline.Locations(t)
	if len(locations) != len(m.ranks) || len(locations) > maxLocations {
		return nil
	}
	c := &closure{
		ahead: ahead, matcher: m, terminals: terminals, locations: make([]int32, len(locations)), of: make([]member, len(locations)),
		channels: map[channelKey]waiting{}, collectives: map[collectiveKey]*collectiveInstance{},
	}
	for i, l := range locations {
		if l.Main != i {
			return nil // then another rank has none
		}
		c.locations[l.Row] = int32(i)
		c.everybody = append(c.everybody, int32(i))
		c.of[i].location, c.of[i].row = int32(i), int32(l.Row)
	}
	return c
}

// find finds the section that begins with a location's next call. It reports false if there is
// none, or if its kind is not supported.
func (c *closure) find(location int) bool {
	c.reset()
	if !c.advance(&c.of[location]) {
		return false
	}
	for {
		lacking := c.lacking()
		if lacking == nil {
			slices.SortFunc(c.members, func(a, b *member) int { return cmp.Compare(a.location, b.location) })
			return true
		}
		if !c.advance(lacking) {
			return false
		}
	}
}

// release frees the memory of a large section.
func (c *closure) release() {
	if c.calls <= maxSection {
		return
	}
	c.reset()
	c.channels, c.collectives, c.unsettled, c.found = map[channelKey]waiting{}, map[collectiveKey]*collectiveInstance{}, unsettled{}, events{}
	for i := range c.of {
		m := &c.of[i]
		m.requests, m.ordinals, m.started, m.postedQueues = nil, nil, nil, nil
	}
}

// synchronizes reports whether all locations leave the section with a collective operation.
func (c *closure) synchronizes() bool {
	return len(c.members) == len(c.of) && !slices.ContainsFunc(c.members, func(m *member) bool { return !m.collective })
}

func (c *closure) reset() {
	for _, m := range c.members {
		m.joined, m.calls, m.open, m.requests, m.ordinals = false, 0, 0, m.requests[:0], m.ordinals[:0]
		m.started, m.postedQueues = m.started[:0], m.postedQueues[:0]
	}
	c.members, c.calls, c.plain = c.members[:0], 0, true
	c.crossings, c.unsettled.collectives = c.crossings[:0], c.unsettled.collectives[:0]
	clear(c.channels)
	clear(c.collectives)
	f := &c.found
	f.ends, f.messages, f.collectives, f.parts, f.completing = f.ends[:0], f.messages[:0], f.collectives[:0], f.parts[:0], f.completing[:0]
}

// lacking returns a location without which the section is incomplete, nil if there is none.
func (c *closure) lacking() *member {
	for n := len(c.crossings); n > 0; n-- {
		key := c.crossings[n-1]
		if first := c.channels[key].first; first >= 0 {
			if c.found.ends[first].receive {
				return &c.of[c.locations[c.matcher.group(key.comm).local[key.source]]]
			}
			return &c.of[c.locations[key.dest]]
		}
		c.crossings = c.crossings[:n-1]
	}
	for n := len(c.unsettled.collectives); n > 0; n-- {
		g := c.unsettled.collectives[n-1]
		if g.missing > 0 {
			for g.members[g.next] < 0 || g.entered[g.next] {
				g.next++
			}
			return &c.of[c.locations[g.members[g.next]]]
		}
		c.unsettled.collectives = c.unsettled.collectives[:n-1]
	}
	return nil
}

// advance adds a location's next calls: those that involve no other location, the first one that
// does, and those after it until the location has nothing pending.
func (c *closure) advance(m *member) bool {
	if !m.joined {
		m.joined = true
		c.members = append(c.members, m)
	}
	idle, other := 0, false
	for {
		run := c.ahead.From(int(m.location), m.calls)
		if len(run.Calls) == 0 {
			return idle > 0 && !other
		}
		enter := run.Enter
		for i := range run.Calls {
			entry := &run.Calls[i]
			run.By.unpack(&entry.Made, enter, &c.present)
			enter = entry.Next
			if c.calls++; c.calls > maxSection+maxSectionPerLocation*len(c.of) || !c.take(m, &c.present) {
				return false
			}
			m.calls++
			if c.present.idle {
				idle++
			} else {
				other, m.collective = true, c.present.synchronizes()
			}
			if m.open == 0 && (other || idle == maxIdle) {
				return true
			}
		}
	}
}

// take adds a call of a location. It reports false if its kind is not supported.
func (c *closure) take(m *member, call *Call) bool {
	if call.open {
		return false
	}
	if kind := call.Poll.Kind(); kind == polling.Missed || kind == polling.Hit {
		c.plain = false
	}
	p := call.plan
	if call.idle || call.unsuccessful || call.Signature.Untraced && p.action != matchedReceive && p.begins() {
		c.plain = c.plain && !call.Signature.Untraced
		return true
	}
	switch p.action {
	case send, receive, sendReceive, collective:
		return c.operation(m, call)
	case start:
		return c.start(m, call)
	case wait, waitAny, waitSome, waitAll:
		return c.complete(m, call)
	case initialize:
		return c.world(m, startupComm, call)
	case finalize:
		return c.world(m, shutdownComm, call)
	case makeGroup, ignore:
		c.plain = c.plain && p.action == ignore
		return true
	}
	return false
}

// operation adds a call that creates an operation: blocking, with a request, or persistent.
func (c *closure) operation(m *member, call *Call) bool {
	p := call.plan
	c.plain = c.plain && !p.graph
	r := pendingRequest{id: call.request, ends: [2]int32{-1, -1}, part: -1}
	switch {
	case p.IsPersistent():
		if p.action == collective {
			return false
		}
		c.plain = false
		r.persistent, r.prototype = true, call.prototype
	case !c.post(m, &r, &call.prototype):
		return false
	case p.Completion == semantics.Blocking:
		c.completes(m)
		return c.completeRequest(m, &r, call.status())
	default:
		r.active = true
		m.open++
	}
	if call.request == noRequest || len(m.requests) == maxRequests {
		return false
	}
	m.requests = append(m.requests, r)
	return true
}

// post adds the operation that a member's next call activates.
func (c *closure) post(m *member, r *pendingRequest, proto *prototype) bool {
	if proto.partitions != 0 {
		return false
	}
	switch proto.plan.action {
	case send:
		return c.postSend(m, r, proto)
	case receive:
		return c.postReceive(m, r, proto)
	case sendReceive:
		return c.postSend(m, r, proto) && c.postReceive(m, r, proto)
	}
	return c.enter(m, r, proto)
}

func (c *closure) postSend(m *member, r *pendingRequest, p *prototype) bool {
	g := c.matcher.group(p.comm)
	if g == nil || p.dest == procNull || p.dest == noValue {
		return true
	}
	dest := g.peer(int(m.row), int(p.own), int64(p.dest))
	if dest < 0 || g.inter || p.own < 0 || int(p.own) >= len(g.local) {
		return false
	}
	r.ends[0] = c.end(m, channelKey{comm: p.comm, source: p.own, dest: int32(dest), tag: p.tag}, false, p.plan.Mode)
	c.toChannel(m, r.ends[0])
	return true
}

func (c *closure) postReceive(m *member, r *pendingRequest, p *prototype) bool {
	g := c.matcher.group(p.comm)
	if g == nil || p.source == procNull || p.source == noValue {
		return true
	}
	wildcard := p.source == anyValue || p.receiveTag == anyValue
	if g.inter || !wildcard && g.peer(int(m.row), 0, int64(p.source)) < 0 {
		return false
	}
	n := c.end(m, channelKey{comm: p.comm, source: p.source, dest: m.row, tag: p.receiveTag}, true, 0)
	r.ends[1], c.found.ends[n].wildcard = n, wildcard
	for i := range m.postedQueues {
		if l := &m.postedQueues[i]; l.comm == p.comm && (wildcard || len(l.ends) > 0) {
			l.ends = append(l.ends, n)
			return true
		}
	}
	if wildcard {
		m.postedQueues = append(m.postedQueues, postedReceives{p.comm, []int32{n}})
	} else {
		c.toChannel(m, n)
	}
	return true
}

// identify sets the envelope of a completed wildcard receive, which lets the receives behind it
// enter their channels.
func (c *closure) identify(m *member, n int32, status *envelope) bool {
	e := &c.found.ends[n]
	g := c.matcher.group(e.channel.comm)
	if !status.known || status.source < 0 {
		return false
	}
	if from := g.peer(int(m.row), 0, int64(status.source)); from < 0 || from == int(m.row) {
		return false // a message to itself may be completed in the same call, before or after
	}
	e.wildcard, e.channel.source, e.channel.tag = false, status.source, status.tag
	for i := range m.postedQueues {
		l := &m.postedQueues[i]
		if l.comm != e.channel.comm {
			continue
		}
		for len(l.ends) > 0 && !c.found.ends[l.ends[0]].wildcard {
			c.toChannel(m, l.ends[0])
			l.ends = l.ends[1:]
		}
	}
	return true
}

// end adds a send or a receive.
func (c *closure) end(m *member, key channelKey, receive bool, mode semantics.Mode) int32 {
	f := &c.found
	f.ends = append(f.ends, sectionEnd{location: m.location, posted: int32(m.calls), done: -1, mode: mode, receive: receive, channel: key, bytes: -1})
	return int32(len(f.ends) - 1)
}

// toChannel appends an end to its channel, or matches it with the first opposite end that waits
// there.
func (c *closure) toChannel(m *member, n int32) {
	f := &c.found
	e := &f.ends[n]
	e.known = int32(m.calls)
	e.next = -1
	q, there := c.channels[e.channel]
	switch {
	case !there || q.first < 0:
		q = waiting{n, n}
		c.crossings = append(c.crossings, e.channel)
	case f.ends[q.first].receive == e.receive:
		f.ends[q.last].next = n
		q.last = n
	default:
		message := sectionMessage{n, q.first}
		if e.receive {
			message = sectionMessage{q.first, n}
		}
		f.messages = append(f.messages, message)
		q.first = f.ends[q.first].next
	}
	c.channels[e.channel] = q
}

// enter records that a location enters its next collective on a communicator.
func (c *closure) enter(m *member, r *pendingRequest, p *prototype) bool {
	g := c.matcher.group(p.comm)
	if g == nil || p.own < 0 || p.root == procNull {
		return true
	}
	part := g.part(int(m.row), int(p.own))
	if part >= g.size() {
		return true
	}
	if g.inter {
		return false
	}
	root := -1
	if p.root != noValue {
		root = g.rootPart(int(m.row), int(p.own), int64(p.root))
	}
	ordinal := uint32(0)
	for i := range m.ordinals {
		if o := &m.ordinals[i]; o.comm == p.comm {
			o.more++
			ordinal = o.more
		}
	}
	if ordinal == 0 {
		m.ordinals = append(m.ordinals, entered{comm: p.comm})
	}
	r.part = c.enterCollective(m, collectiveKey{comm: p.comm, ordinal: ordinal}, p.plan, g.local, part, root)
	if r.part < 0 {
		return false
	}
	c.found.parts[r.part].bytes = p.bytes
	return true
}

// An entered counts a location's collectives on a communicator after the first one. A section has
// few communicators.
type entered struct {
	comm int32
	more uint32
}

// enterCollective records that a location enters a collective and returns the index of its part, −1
// if it had entered before.
func (c *closure) enterCollective(m *member, key collectiveKey, p *plan, rows []int32, part, root int) int32 {
	f := &c.found
	g := c.collectives[key]
	if g == nil {
		g = &collectiveInstance{number: len(f.collectives), comm: key.comm, members: rows, entered: make([]bool, len(rows))}
		for _, row := range rows {
			if row >= 0 {
				g.missing++
			}
		}
		f.collectives = append(f.collectives, sectionInstance{
			class: p.class, movement: p.Movement, comm: key.comm, size: len(rows), present: g.missing, root: -1,
		})
		c.collectives[key] = g
		c.unsettled.collectives = append(c.unsettled.collectives, g)
	}
	if g.entered[part] || rows[part] != m.row {
		return -1
	}
	if of := &f.collectives[g.number]; g.missing == of.present {
		of.root = root
	} else if root != of.root || p.class != of.class || p.Movement != of.movement {
		c.plain = false // an erroneous program: the result depends on the order of entry
	}
	g.entered[part] = true
	g.missing--
	f.parts = append(f.parts, sectionPart{instance: int32(g.number), part: int32(part), location: m.location, posted: int32(m.calls), done: -1})
	return int32(len(f.parts) - 1)
}

// world records MPI_Init or MPI_Finalize.
func (c *closure) world(m *member, comm int32, call *Call) bool {
	r := pendingRequest{ends: [2]int32{-1, -1}, part: c.enterCollective(m, collectiveKey{comm: comm}, call.plan, c.everybody, int(m.row), -1)}
	c.plain = false
	return r.part >= 0 && c.completeRequest(m, &r, call.status())
}

// request returns the index of a request that the section has made or started, −1 if there is none.
func (m *member) request(id int64) int {
	for i := range m.requests {
		if m.requests[i].id == id {
			return i
		}
	}
	return -1
}

// start records which persistent requests a call starts.
func (c *closure) start(m *member, call *Call) bool {
	for i := range call.requests {
		id := call.requests[i].request
		k := m.request(id)
		if k < 0 && len(m.requests) == maxRequests {
			return false
		}
		if k < 0 {
			made := c.matcher.ranks[m.row].requests.get(id)
			if made == nil || made.persistent == nil || made.active || made.persistent.plan.action == collective {
				return false
			}
			k = len(m.requests)
			m.requests = append(m.requests, pendingRequest{id: id, persistent: true, prototype: made.persistent.prototype})
			m.started = append(m.started, id)
		}
		r := &m.requests[k]
		if !r.persistent || r.active {
			return false
		}
		r.ends, r.part = [2]int32{-1, -1}, -1
		if !c.post(m, r, &r.prototype) {
			return false
		}
		r.active = true
		m.open++
	}
	return true
}

// complete records which requests a call completes.
func (c *closure) complete(m *member, call *Call) bool {
	c.completes(m)
	for i := range call.requests {
		one := &call.requests[i]
		k := m.request(one.request)
		if k < 0 {
			if r := c.matcher.ranks[m.row].requests.get(one.request); r != nil && r.active {
				return false
			}
			continue // a persistent one that is not active, or none at all
		}
		r := &m.requests[k]
		if r.active {
			r.active = false
			m.open--
			if !c.completeRequest(m, r, one.envelope) {
				return false
			}
		}
		if !r.persistent {
			last := len(m.requests) - 1
			m.requests[k] = m.requests[last]
			m.requests = m.requests[:last]
		}
	}
	return true
}

// completes records that a member's next call may complete operations.
func (c *closure) completes(m *member) {
	c.found.completing = append(c.found.completing, sectionCall{m.location, int32(m.calls)})
}

// completeRequest records that a member's next call completes an operation. It reports false if the
// operation was canceled.
func (c *closure) completeRequest(m *member, r *pendingRequest, status envelope) bool {
	if status.cancelled {
		return false
	}
	f := &c.found
	for _, n := range r.ends {
		if n < 0 {
			continue
		}
		f.ends[n].done = int32(m.calls)
		if f.ends[n].wildcard && !c.identify(m, n, &status) {
			return false
		}
		if f.ends[n].receive && status.known {
			f.ends[n].bytes = status.bytes
		}
	}
	if r.part >= 0 {
		f.parts[r.part].done = int32(m.calls)
	}
	return true
}
