package match

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// A section is a part of a run that has to do with no other: some of the next calls of some locations, such that whatever
// begins in it is matched and completed in it. It can be matched without a look at what the rest of the ranks did meanwhile,
// and before or after other sections.
//
// A closure finds the least section that a location's next call is in. It takes the calls of a location as far as the location
// has something under way; whoever has the other side of a message, or takes part in a collective, joins, until nothing is
// missing. Only order counts, as in the Matcher, which matches the section then.
type closure struct {
	ahead     *timeline.Ahead[packed, *reader]
	matcher   *Matcher
	terminals []terminalPlan
	locations []int32 // by row: its only one
	everybody []int32 // all rows

	members     []*member // in the order in which they joined
	of          []member  // by location
	channels    map[channelKey]waiting
	collectives map[collectiveKey]*collectiveInstance
	unsettled
	calls   int  // so far
	plain   bool // it may have a shape: see shape.go
	found   events
	present Call
}

// unsettled is what is not complete in a section so far.
type unsettled struct {
	crossings   []channelKey
	collectives []*collectiveInstance
}

// A member is what one location has in a section.
type member struct {
	location, row int32
	joined        bool
	collective    bool // its latest call that concerns others is one
	calls         int  // its next ones
	open          int  // operations that are under way
	requests      []pendingRequest
	ordinals      []ordinal // of collectives, counted from the section's beginning
	started       []int64   // persistent requests from before the section
	lines         []postedReceives
}

// A postedReceives is what stands behind a receive whose envelope is not known yet (postedQueue), on one communicator.
type postedReceives struct {
	comm int32
	ends []int32
}

// A pendingRequest is a request that the section has made or started.
type pendingRequest struct {
	id         int64
	persistent bool
	prototype  prototype // of a persistent one
	active     bool
	ends       [2]int32 // among the section's, −1: none
	part       int32    // of a collective, among the section's, −1: none
}

// waiting is what waits in a channel for its partner, either sends or receives: the first one of the section's ends, −1 for none,
// and the last.
type waiting struct{ first, last int32 }

// A collectiveInstance is a collective operation that some have entered.
type collectiveInstance struct {
	number  int // in the section
	comm    int32
	members []int32 // rows by part, those of the communicator: −1 is not in the trace
	entered []bool
	missing int
	next    int // parts before it have entered
}

// events are what happens in a section, by the numbers of its calls: the position in the calls of its location.
type events struct {
	ends        []sectionEnd
	messages    []sectionMessage
	collectives []sectionInstance
	parts       []sectionPart
	// completing are the calls in which operations may be completed
	completing []sectionCall
}

// A sectionCall is a call of a location.
type sectionCall struct{ location, call int32 }

// A sectionEnd is a send or a receive.
type sectionEnd struct {
	location     int32
	posted, done int32 // calls
	known        int32 // the call from which on it has its place in its channel: of a receive in a line, a later one
	next         int32 // that waits behind it, −1: none
	mode         semantics.Mode
	receive      bool
	wildcard     bool // its envelope is not known yet
	channel      channelKey
	bytes        int64 // of a receive, as the call says that completed it
}

// A sectionMessage is what was sent and received, by its ends.
type sectionMessage struct{ send, receive int32 }

// A sectionInstance is a collective operation.
type sectionInstance struct {
	class         Class
	movement      semantics.Movement
	comm          int32
	size, present int
	root          int
}

// A sectionPart is a rank's share in one.
type sectionPart struct {
	instance     int32
	part         int32
	location     int32
	posted, done int32 // calls
	bytes        int64
}

// maxSection is how many calls a section has at most, with so many more for each location: what is longer is matched in the
// order of time, as what has no end.
const (
	maxSection            = 1 << 15
	maxSectionPerLocation = 64
	maxLocations          = 8192
	maxIdle               = 64   // calls that concern nobody else, in a row
	maxRequests           = 1024 // that a location may have at a time
)

// newClosure is nil where ranks have several threads: whose the other side of a message is cannot be told before it comes. It is nil
// with very many ranks, too, whose decoders take a gigabyte: what is looked at ahead, and shapes, would take a tenth more.
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
			return nil // another rank has none
		}
		c.locations[l.Row] = int32(i)
		c.everybody = append(c.everybody, int32(i))
		c.of[i].location, c.of[i].row = int32(i), int32(l.Row)
	}
	return c
}

// find looks for the section that begins with a location's next call; false: there is none, or it is not known how to find it.
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

// release gives back the memory that a large section has taken.
func (c *closure) release() {
	if c.calls <= maxSection {
		return
	}
	c.reset()
	c.channels, c.collectives, c.unsettled, c.found = map[channelKey]waiting{}, map[collectiveKey]*collectiveInstance{}, unsettled{}, events{}
	for i := range c.of {
		m := &c.of[i]
		m.requests, m.ordinals, m.started, m.lines = nil, nil, nil, nil
	}
}

// synchronizes reports whether all locations leave the section with a collective operation.
func (c *closure) synchronizes() bool {
	return len(c.members) == len(c.of) && !slices.ContainsFunc(c.members, func(m *member) bool { return !m.collective })
}

func (c *closure) reset() {
	for _, m := range c.members {
		m.joined, m.calls, m.open, m.requests, m.ordinals = false, 0, 0, m.requests[:0], m.ordinals[:0]
		m.started, m.lines = m.started[:0], m.lines[:0]
	}
	c.members, c.calls, c.plain = c.members[:0], 0, true
	c.crossings, c.unsettled.collectives = c.crossings[:0], c.unsettled.collectives[:0]
	clear(c.channels)
	clear(c.collectives)
	f := &c.found
	f.ends, f.messages, f.collectives, f.parts, f.completing = f.ends[:0], f.messages[:0], f.collectives[:0], f.parts[:0], f.completing[:0]
}

// lacking is a location without which something stays incomplete, nil if there is none.
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

// advance takes a location's next calls: those that concern nobody else, the first one that does, and those after it until
// nothing of the location is under way.
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

// take notes what a call of a location does; false: it is of a kind that is not followed here.
func (c *closure) take(m *member, call *Call) bool {
	if call.open {
		return false
	}
	if kind := call.Poll.Kind(); kind == polling.Missed || kind == polling.Hit {
		c.plain = false
	}
	p := call.plan
	if call.idle || call.vain || call.Signature.Untraced && p.action != matchedReceive && p.begins() {
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

// operation notes a call that makes an operation: at once, by a request, or for later starts.
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

// post notes the operation that a member's next call makes active.
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
	for i := range m.lines {
		if l := &m.lines[i]; l.comm == p.comm && (wildcard || len(l.ends) > 0) {
			l.ends = append(l.ends, n)
			return true
		}
	}
	if wildcard {
		m.lines = append(m.lines, postedReceives{p.comm, []int32{n}})
	} else {
		c.toChannel(m, n)
	}
	return true
}

// identify notes from whom a receive with a wildcard got its message, which lets those behind it go on.
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
	for i := range m.lines {
		l := &m.lines[i]
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

// end notes a send or a receive.
func (c *closure) end(m *member, key channelKey, receive bool, mode semantics.Mode) int32 {
	f := &c.found
	f.ends = append(f.ends, sectionEnd{location: m.location, posted: int32(m.calls), done: -1, mode: mode, receive: receive, channel: key, bytes: -1})
	return int32(len(f.ends) - 1)
}

// toChannel gives an end its place in its channel and matches it, if the other one is there.
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

// enter notes that a location takes part in its next collective on a communicator.
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
			o.next++
			ordinal = o.next
		}
	}
	if ordinal == 0 {
		m.ordinals = append(m.ordinals, ordinalOf(p.comm))
	}
	r.part = c.enterCollective(m, collectiveKey{comm: p.comm, ordinal: ordinal}, p.plan, g.local, part, root)
	if r.part < 0 {
		return false
	}
	c.found.parts[r.part].bytes = p.bytes
	return true
}

// ordinalOf is the count of a location that has entered its first collective on a communicator.
func ordinalOf(comm int32) ordinal { return ordinal{comm: comm} }

// enterCollective notes that a location enters a collective operation, and returns the number of its part; −1: it was there already.
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
		c.plain = false // a wrong program: what counts is who came first
	}
	g.entered[part] = true
	g.missing--
	f.parts = append(f.parts, sectionPart{instance: int32(g.number), part: int32(part), location: m.location, posted: int32(m.calls), done: -1})
	return int32(len(f.parts) - 1)
}

// world notes MPI_Init or MPI_Finalize.
func (c *closure) world(m *member, comm int32, call *Call) bool {
	r := pendingRequest{ends: [2]int32{-1, -1}, part: c.enterCollective(m, collectiveKey{comm: comm}, call.plan, c.everybody, int(m.row), -1)}
	c.plain = false
	return r.part >= 0 && c.completeRequest(m, &r, call.status())
}

// request finds one that the section has made or started.
func (m *member) request(id int64) int {
	for i := range m.requests {
		if m.requests[i].id == id {
			return i
		}
	}
	return -1
}

// start notes which persistent requests a call starts.
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

// complete notes which requests a call completes.
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

// completes notes that operations may be completed in a member's next call.
func (c *closure) completes(m *member) {
	c.found.completing = append(c.found.completing, sectionCall{m.location, int32(m.calls)})
}

// completeRequest notes that a member's next call completes an operation; false: it was cancelled.
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
