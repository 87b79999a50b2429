package match

import (
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// A Matcher matches the calls of a trace. Feed it every call in the order of package timeline, then call Finish.
type Matcher struct {
	handler   Handler
	watcher   Watcher // the handler, if it is one
	trace     timeline.Trace
	canonical []int // by communicator instance: the one that stands for both sides of an intercommunicator
	locations []timeline.Location
	plans     []plan
	groups    []*group
	ranks     []rankState
	queues    []settling // by location
	channels  map[channelKey]*channel
	inboxes   map[inboxKey]*inbox
	pending   map[collectiveKey]*Collective
	leftovers leftovers

	polls    Polls
	attempts []Attempt // by location
	since    int64     // when the polls began that the present call ends
	polling  bool

	collectives     uint64
	message         Message // the one that the handler is told of
	freeRequests    []*request
	freeCollectives []*Collective
	freeEnds        []*End
	freeCompletions []*Completion
	freeChannels    []*channel
}

// rankState is what is alive on one rank.
type rankState struct {
	requests map[int64]*request
	messages map[int64]*End // taken by a matched probe
	ordinals map[int32]uint32
	progress progress
}

// A request is an operation that is not completed yet, or a persistent one.
type request struct {
	persistent bool
	prototype  prototype
	ends       [2]*End // active send and receive, if any
	collective *Collective
	part       int
	active     bool
}

// A prototype is what a persistent request will do each time that it is started.
type prototype struct {
	plan *plan
	comm int
	own  int
	dest, source,
	tag, receiveTag,
	root int64
	ordinal, starts uint32 // of a persistent collective
}

// New makes a matcher that tells handler what it finds.
func New(t timeline.Trace, handler Handler) *Matcher {
	ranks := t.Ranks()
	m := &Matcher{
		handler:   handler,
		trace:     t,
		locations: timeline.Locations(t),
		canonical: canonical(t.Communicators()),
		groups:    make([]*group, len(t.Communicators())),
		ranks:     make([]rankState, len(ranks)),
		channels:  map[channelKey]*channel{},
		inboxes:   map[inboxKey]*inbox{},
		pending:   map[collectiveKey]*Collective{},
	}
	m.watcher, _ = handler.(Watcher)
	m.queues, m.attempts = make([]settling, len(m.locations)), make([]Attempt, len(m.locations))
	for i := range m.ranks {
		m.ranks[i] = rankState{requests: map[int64]*request{}, messages: map[int64]*End{}, ordinals: map[int32]uint32{}}
	}
	return m
}

// plan is how to read calls of f.
func (m *Matcher) plan(f *trace.Function) *plan {
	for int(f.ID) >= len(m.plans) {
		m.plans = append(m.plans, plan{timing: 0xff})
	}
	if p := &m.plans[f.ID]; p.timing == 0xff {
		*p = newPlan(f)
	}
	return &m.plans[f.ID]
}

// comm is the instance under which operations on a communicator are matched.
func (m *Matcher) comm(instance int) int {
	if instance < 0 || instance >= len(m.canonical) {
		return -1
	}
	return m.canonical[instance]
}

func (m *Matcher) group(comm int) *group {
	if comm < 0 || comm >= len(m.groups) {
		return nil
	}
	if m.groups[comm] == nil {
		m.groups[comm] = newGroup(&m.trace.Communicators()[comm], m.trace.Ranks())
	}
	return m.groups[comm]
}

// Call takes the next call.
func (m *Matcher) Call(c *timeline.Call) {
	p := m.plan(c.Function)
	m.since, m.polling = m.attempts[c.Location].See(m.polls.Of(c.Event), c)
	if p.action == ignore || p.action <= matchedProbe && failed(c.Event) {
		return
	}
	row := m.locations[c.Location].Row
	m.moved(c, row)
	if c.Signature.Untraced && p.action != matchedReceive && p.begins() {
		return // while tracing is off only some operations are recorded, and may not have their partners
	}
	switch p.action {
	case send, receive, sendReceive, collective:
		m.operation(p, c, row)
	case probe, pollProbe:
		m.probe(p, c, row)
	case matchedProbe:
		m.matchedProbe(p, c, row)
	case matchedReceive:
		m.matchedReceive(p, c, row)
	case start, startAll:
		m.start(p, c, row)
	case wait, waitAny, waitSome, waitAll:
		m.complete(p, c, row)
	case requestFree:
		m.free(p, c, row)
	case createGroup:
		m.createGroup(p, c, row)
	case initialize:
		m.world(startupComm, p, c, row)
	case finalize:
		m.world(shutdownComm, p, c, row)
	case ignore:
	}
}

// operation handles a call that makes an operation: at once, by a request, or for later starts.
func (m *Matcher) operation(p *plan, c *timeline.Call, row int) {
	proto := prototype{plan: p, comm: m.comm(c.Comm), own: c.OwnRank}
	proto.dest = number(argument(c.In, p.dest))
	proto.source = number(argument(c.In, p.source))
	proto.tag = number(argument(c.In, p.tag))
	proto.receiveTag = proto.tag
	if p.receiveTag >= 0 {
		proto.receiveTag = number(argument(c.In, p.receiveTag))
	}
	proto.root = number(argument(c.In, p.root))
	point := pointOf(c, row)
	if p.timing == blocking {
		done := m.completion(c, row)
		r := m.request()
		m.post(r, &proto, point)
		m.completeRequest(r, done, argument(c.Out, p.status), 0)
		m.sealed(done)
		m.freeRequests = append(m.freeRequests, r)
		return
	}
	id := argument(c.Out, p.request)
	r := m.request()
	if p.timing == persistent {
		r.persistent, r.prototype = true, proto
		if p.action == collective {
			r.prototype.ordinal = m.next(row, proto.comm)
		}
	} else {
		m.post(r, &proto, point)
	}
	if id.Form == trace.Handle || id.Form == trace.Int {
		m.ranks[row].requests[id.Int] = r
	}
}

func (m *Matcher) request() *request {
	n := len(m.freeRequests)
	if n == 0 {
		return new(request)
	}
	r := m.freeRequests[n-1]
	m.freeRequests = m.freeRequests[:n-1]
	*r = request{}
	return r
}

// post makes an operation active.
func (m *Matcher) post(r *request, proto *prototype, at Point) {
	r.active = true
	switch proto.plan.action {
	case send:
		r.ends[0] = m.postSend(proto, at)
	case receive:
		r.ends[1] = m.postReceive(proto, at)
	case sendReceive:
		r.ends[0] = m.postSend(proto, at)
		r.ends[1] = m.postReceive(proto, at)
	case collective:
		r.collective, r.part = m.enter(proto, at)
	}
}

func (m *Matcher) start(p *plan, c *timeline.Call, row int) {
	list := argument(c.In, p.request)
	point := pointOf(c, row)
	n := 1
	if list.Form == trace.List {
		n = len(list.List)
	}
	for i := range n {
		id := element(list, i)
		if id.Form != trace.Handle && id.Form != trace.Int {
			continue
		}
		if r := m.ranks[row].requests[id.Int]; r != nil && r.persistent && !r.active {
			m.post(r, &r.prototype, point)
		}
	}
}

func (m *Matcher) free(p *plan, c *timeline.Call, row int) {
	id := argument(c.In, p.request)
	r := m.ranks[row].requests[id.Int]
	if r == nil || id.Form == trace.Name {
		return
	}
	delete(m.ranks[row].requests, id.Int)
	if r.active {
		m.completeRequest(r, nil, &absent, 0)
	}
}

// complete handles Wait, Test and their plural forms.
func (m *Matcher) complete(p *plan, c *timeline.Call, row int) {
	if p.flag >= 0 && number(argument(c.Out, p.flag)) <= 0 {
		return
	}
	requests, statuses := argument(c.In, p.request), argument(c.Out, p.status)
	done := m.completion(c, row)
	m.polled(p, done)
	switch p.action {
	case wait:
		m.completeID(row, requests, done, statuses, 0)
	case waitAll:
		for i := range requests.List {
			m.completeID(row, &requests.List[i], done, statuses, i)
		}
	case waitAny:
		if i := number(argument(c.Out, p.index)); i >= 0 && i < int64(len(requests.List)) {
			m.completeID(row, &requests.List[i], done, statuses, 0)
		}
	case waitSome:
		indices := argument(c.Out, p.index)
		if indices.Form != trace.List {
			break
		}
		for k := range indices.List {
			if i := number(&indices.List[k]); i >= 0 && i < int64(len(requests.List)) {
				m.completeID(row, &requests.List[i], done, statuses, k)
			}
		}
	}
	m.sealed(done)
}

// completeID ends the operation of a request; its status is the i-th.
func (m *Matcher) completeID(row int, id *trace.Value, done *Completion, statuses *trace.Value, i int) {
	if id.Form != trace.Handle && id.Form != trace.Int {
		return // MPI_REQUEST_NULL
	}
	requests := m.ranks[row].requests
	r := requests[id.Int]
	if r == nil {
		return
	}
	if r.active {
		m.completeRequest(r, done, statuses, i)
	}
	if !r.persistent {
		delete(requests, id.Int)
		m.freeRequests = append(m.freeRequests, r)
	}
}

// completeRequest ends an active operation in the call done (nil: nobody will ever know when).
func (m *Matcher) completeRequest(r *request, done *Completion, statuses *trace.Value, i int) {
	r.active = false
	e, ok := statusIn(statuses, i)
	for _, end := range r.ends {
		if end != nil {
			m.completeEnd(end, done, e, ok)
		}
	}
	r.ends = [2]*End{}
	if r.collective != nil {
		m.leave(r.collective, r.part, done)
		r.collective = nil
	}
}

func pointOf(c *timeline.Call, row int) Point {
	return Point{Location: c.Location, Row: row, Enter: c.Enter, Exit: c.Exit, Function: c.Function.ID, Site: c.Signature.Site}
}

// failed tells whether the call returned an error. An operation that was not posted has no partner.
func failed(e *trace.Event) bool {
	return e.Return.Form == trace.Int && e.Return.Int != 0 || e.Return.Form == trace.Name && e.Return.Text != "MPI_SUCCESS"
}
