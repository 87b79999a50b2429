package match

import (
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// A Matcher matches the calls of a trace. The caller passes every call to Call, in the order of
// each, and then calls Finish.
type Matcher struct {
	handler      Handler
	watcher      Watcher // the handler, if it is one
	trace        timeline.Trace
	instances    instances
	groups       []*group
	graphs       int // number of groups with a graph topology
	ranks        []rankState
	threads      []threadState // by location
	channels     channels
	postedQueues map[receiverKey]*postedQueue
	pending      map[collectiveKey]*Collective
	locks        map[uint32]*contention // by window
	leftovers    leftovers
	stopped      []*stop // calls that never returned

	since   int64 // start of the polls that the present call ends
	polling bool
	error   int64 // maximum rounding error of the times so far

	collectives     uint64
	message         Message // scratch for the handler
	freeCollectives []*Collective
	freeEnds        []*End
	freeCompletions []*Completion
}

// threadState is the state of one location.
type threadState struct {
	row      int
	attempt  polling.Attempt
	settling settling
}

// rankState is the state of one rank.
type rankState struct {
	requests requestTable
	messages map[int64]*End   // taken by a matched probe
	ordinals map[int32]uint32 // number of its collectives, by communicator
	progress progress
	objects  map[objectKey]*object
	groups   processGroups
	// number of returns from MPI_Comm_disconnect, by communicator
	disconnected map[int32]uint32
	contended    []*contention // with unsettled lock calls of the rank
}

// A request is a pending operation or a persistent request.
type request struct {
	persistent *persistent // nil: it is freed when its operation completes
	ends       [2]*End     // active send and receive, if any
	collective *Collective
	part       int
	active     bool
	inUse      bool // slot of the table in use
}

// A prototype is an operation as its call describes it. A persistent request has one for all its
// starts.
type prototype struct {
	plan               *plan
	comm, own          int32
	dest, source, root int32
	partitions         int32 // of a partitioned message
	tag, receiveTag    int64
	bytes              int64 // of the largest buffer of a collective
}

// A persistent operation can be started again.
type persistent struct {
	prototype
	ordinal, starts uint32 // of a collective one
}

// New returns a Matcher that reports to handler.
func New(t timeline.Trace, handler Handler) *Matcher {
	m := &Matcher{
		handler:      handler,
		trace:        t,
		instances:    newInstances(t.Communicators()),
		groups:       make([]*group, len(t.Communicators())),
		ranks:        make([]rankState, t.Ranks().Len()),
		postedQueues: map[receiverKey]*postedQueue{},
		pending:      map[collectiveKey]*Collective{},
		locks:        map[uint32]*contention{},
	}
	m.watcher, _ = handler.(Watcher)
	locations := timeline.Locations(t)
	m.threads, m.channels = make([]threadState, len(locations)), newChannels(len(locations))
	for i, l := range locations {
		m.threads[i].row = l.Row
	}
	for i := range m.ranks {
		m.ranks[i] = rankState{messages: map[int64]*End{}, objects: map[objectKey]*object{}}
	}
	return m
}

func (m *Matcher) group(comm int32) *group {
	if comm < 0 || int(comm) >= len(m.groups) {
		return nil
	}
	if m.groups[comm] == nil {
		m.groups[comm] = newGroup(&m.trace.Communicators()[comm], m.trace.Ranks())
	}
	return m.groups[comm]
}

// Call matches the next call.
func (m *Matcher) Call(c *Call) {
	p := c.plan
	thread := &m.threads[c.Location]
	m.error = max(m.error, c.EnterError, c.ExitError)
	m.since, m.polling = thread.attempt.See(c.Poll, &c.Record)
	row := thread.row
	if m.ranks[row].contended != nil {
		m.settleContended(row, c.Enter)
	}
	if !c.idle {
		m.moved(c, row)
	}
	if c.open {
		m.stop(p, c, row)
	}
	if c.idle || c.open {
		return
	}
	if c.unsuccessful || c.Signature.Untraced && p.action != matchedReceive && p.begins() {
		return // while tracing is off only some operations are recorded; partners may be missing
	}
	switch p.action {
	case send, receive, sendReceive, collective:
		m.operation(p, c, row)
		if p.graph {
			m.learnGraph(p, c)
		}
	case probe:
		m.probe(p, c, row)
	case matchedProbe:
		m.matchedProbe(p, c, row)
	case matchedReceive:
		m.matchedReceive(p, c, row)
	case start:
		m.start(c, row)
	case wait, waitAny, waitSome, waitAll:
		m.complete(p, c, row)
	case requestFree:
		m.free(c, row)
	case requestStatus:
		m.queried(p, c, row)
	case createGroup:
		m.createGroup(p, c, row)
	case initialize:
		m.world(startupComm, p, c, row)
	case finalize:
		m.world(shutdownComm, p, c, row)
	case createObject:
		m.createObject(p, c, row)
	case onObject, freeObject:
		m.onObject(p, c, row)
	case epochPost, epochStart, epochComplete, epochWait:
		m.epoch(p, c, row)
	case acquireLock, releaseLock:
		m.lock(p, c, row)
	case makeGroup:
		m.makeGroup(c, row)
	case partitionReady:
		m.ready(p, c, row)
	case partitionArrived:
		m.arrived(p, c, row)
	case disconnect:
		m.disconnect(c, row)
	case ignore:
	}
}

// operation handles a call that creates an operation: blocking, with a request, or persistent.
func (m *Matcher) operation(p *plan, c *Call, row int) {
	if p.Completion == semantics.Blocking {
		var r request
		done := m.completion(c, row)
		m.polled(p, done)
		m.post(&r, &c.prototype, c, row)
		m.completeRequest(&r, done, c.status())
		m.seal(done)
		return
	}
	r := new(request)
	if c.request != noRequest {
		r = m.ranks[row].requests.put(c.request)
	}
	if !p.IsPersistent() {
		m.post(r, &c.prototype, c, row)
		return
	}
	r.persistent = &persistent{prototype: c.prototype}
	if p.action == collective {
		r.persistent.ordinal = m.next(row, c.comm)
	}
}

// post activates an operation.
func (m *Matcher) post(r *request, proto *prototype, c *Call, row int) {
	r.active = true
	switch proto.plan.action {
	case send:
		r.ends[0] = m.postSend(proto, c, row)
	case receive:
		r.ends[1] = m.postReceive(proto, c, row)
	case sendReceive:
		r.ends[0] = m.postSend(proto, c, row)
		r.ends[1] = m.postReceive(proto, c, row)
	case collective:
		r.collective, r.part = m.enter(proto, r.persistent, c, row)
	}
}

func (m *Matcher) start(c *Call, row int) {
	for i := range c.requests {
		if r := m.ranks[row].requests.get(c.requests[i].request); r != nil && r.persistent != nil && !r.active {
			m.post(r, &r.persistent.prototype, c, row)
		}
	}
}

func (m *Matcher) free(c *Call, row int) {
	for i := range c.requests {
		id := c.requests[i].request
		r := m.ranks[row].requests.get(id)
		if r == nil {
			continue
		}
		if r.active {
			m.completeRequest(r, nil, envelope{bytes: -1})
		}
		m.ranks[row].requests.remove(id)
	}
}

// complete handles Wait, Test and their variants for several requests.
func (m *Matcher) complete(p *plan, c *Call, row int) {
	done := m.completion(c, row)
	m.polled(p, done)
	requests := &m.ranks[row].requests
	for i := range c.requests {
		one := &c.requests[i]
		r := requests.get(one.request)
		if r == nil {
			continue
		}
		if r.active {
			m.completeRequest(r, done, one.envelope)
		}
		if r.persistent == nil {
			requests.remove(one.request)
		}
	}
	m.seal(done)
}

// completeRequest ends an active operation in the call done. If done is nil, the time of completion
// is unknown.
func (m *Matcher) completeRequest(r *request, done *Completion, status envelope) {
	r.active = false
	for _, end := range r.ends {
		if end != nil {
			m.completeEnd(end, done, status)
		}
	}
	r.ends = [2]*End{}
	if r.collective != nil {
		m.leave(r.collective, r.part, done)
		r.collective = nil
	}
}

// set sets p to a call, field by field: assigning a literal would build and copy a temporary, and
// the wider loads of the copy would stall on the narrower stores before it.
func (p *Point) set(c *Call, row int) {
	p.Location, p.Row = c.Location, row
	p.Enter, p.Exit = c.Enter, c.Exit
	p.EnterError, p.ExitError = c.EnterError, c.ExitError
	p.Function, p.Site = c.Function.ID, c.Signature.Site
}
