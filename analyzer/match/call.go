package match

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A Call is a call together with the arguments that matching needs. They are read by the decoding
// goroutines, while the arguments are at hand.
type Call struct {
	timeline.Record
	Poll     polling.Poll
	Terminal int32 // index of its signature in the trace

	open         bool // it never returned: its rank ended in it
	idle         bool // it failed, or concerns no other rank
	unsuccessful bool // a test or probe that did not succeed
	prototype         // of the operation that it makes
	request      int64
	requests     []completed  // that it starts, completes or frees; for a call that completes itself: its status only
	event        *trace.Event // nil except for rare kinds of calls, whose arguments are read when they are matched
}

// noRequest is not a valid symbolic id.
const noRequest = -1 << 62

// status is the status of the operation that the call itself completes.
func (c *Call) status() envelope {
	if len(c.requests) == 0 {
		return envelope{bytes: -1}
	}
	return c.requests[0].envelope
}

// A completed is a request and the status of its completion.
type completed struct {
	request int64
	envelope
}

// each calls f for every call of the trace, ordered by time of entry. The Call is valid until f
// returns.
func each(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks, f func(*Call) error) error {
	ctx = passes.Named(ctx, "matching calls")
	var c Call
	return timeline.EachRead(ctx, t, clocks, newReading(t).reader, func(by *reader, enter int64, made *packed) error {
		by.unpack(made, enter, &c)
		return f(&c)
	})
}

// All matches all calls of a trace, ordered by time of entry, and returns the operations that found
// no partner. If see is not nil it is called for every call before the call is matched.
func All(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks, handler Handler, see func(*Call)) ([]Leftover, error) {
	m := New(t, handler)
	err := each(ctx, t, clocks, func(c *Call) error {
		if see != nil {
			see(c)
		}
		m.Call(c)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m.Finish(), nil
}

// A reading is shared by all readers: it knows how to read the calls of each terminal.
type reading struct {
	terminals     []terminalPlan
	instances     instances
	communicators []trace.Communicator
	decoded       func(*timeline.Call)
	gaps          []*polling.LocationGaps // by location: several readers read its calls in turn
	known         []knownCalls            // by location, too
}

type terminalPlan struct {
	plan      *plan
	function  *trace.Function
	semantics *semantics.Function
	signature *trace.Signature
	outcome   outcome
	fixed     bool // all its calls on a thread have the same arguments if their communicator is the same
}

// An outcome is what a signature records about the failure of its calls.
type outcome uint8

const (
	succeeded outcome = iota
	failedAlways
	perCall
)

func newReading(t timeline.Trace) *reading {
	signatures := t.Signatures()
	r := &reading{terminals: make([]terminalPlan, len(signatures)), instances: newInstances(t.Communicators()), communicators: t.Communicators()}
	gaps := polling.NewGaps(t)
	for i := range t.Threads().Len() {
		r.gaps = append(r.gaps, gaps.Of(i))
	}
	if len(signatures) <= maxKnown && len(r.gaps) <= maxLocations {
		r.known = make([]knownCalls, len(r.gaps))
	}
	plans := map[uint16]*plan{}
	for i := range signatures {
		s := &signatures[i]
		if plans[s.Function] == nil {
			p := newPlan(t.Semantics(s.Function))
			plans[s.Function] = &p
		}
		p := terminalPlan{
			plan: plans[s.Function], function: t.Function(s.Function), semantics: t.Semantics(s.Function), signature: s,
		}
		p.fixed = !s.HasStreams() || p.plan.action == ignore
		switch {
		case s.Return.Form != trace.Int && s.Return.Form != trace.Name && s.Return.Form != trace.Null:
			p.outcome = perCall
		case failed(&s.Return):
			p.outcome = failedAlways
		}
		r.terminals[i] = p
	}
	return r
}

// A reader reads the calls of one location. It is a timeline.Reader.
type reader struct {
	terminals []terminalPlan // of the reading
	location  int
	begin     uint64      // index of the first call since Reset
	requests  []completed // requests of all calls since then
	whole     []Call      // calls since then that are not packed
	*reading
	empty bool
	call  Call // scratch for Read
}

// reader returns a reader of the calls of a location.
func (r *reading) reader(location int) *reader {
	return &reader{terminals: r.terminals, location: location, reading: r, empty: true}
}

// Reset implements timeline.Reader.
func (r *reader) Reset() { r.requests, r.whole, r.empty = r.requests[:0], r.whole[:0], true }

// Read implements timeline.Reader.
func (r *reader) Read(made *timeline.Call, to *packed) {
	if r.decoded != nil {
		r.decoded(made)
	}
	if r.empty {
		r.empty, r.begin = false, made.Index
	}
	fixed := r.known != nil && r.terminals[made.Event.Terminal].fixed && !made.Apart
	if fixed {
		if k := r.known[r.location].of(made.Event); k != nil && k.take(made, r, to) {
			return
		}
	}
	first := len(r.requests)
	r.read(made, made.Event.Unfinished(), &r.call)
	r.pack(&r.call, first, to)
	if fixed && to.flags&packedWhole == 0 {
		r.known[r.location].add(made.Event, to, r.requests[first:], len(r.terminals))
	}
}

// read fills c with the parts of the call that matching needs. Those of an open call include what
// it waits for.
func (r *reader) read(made *timeline.Call, open bool, c *Call) {
	e := made.Event
	terminal := &r.terminals[e.Terminal]
	p := terminal.plan
	if made.Apart {
		*c = Call{Record: made.Record, Terminal: e.Terminal, prototype: prototype{plan: p}, idle: true}
		return
	}
	c.Record, c.Poll, c.Terminal = made.Record, r.gaps[made.Location].See(e), e.Terminal
	c.open, c.idle, c.unsuccessful, c.request, c.requests, c.event = open, false, false, 0, nil, nil
	if p.action == ignore || p.canFail() && (terminal.outcome == failedAlways || terminal.outcome == perCall && failed(&e.Return)) {
		c.prototype, c.idle = prototype{plan: p}, true
		if c.open {
			c.event = timeline.Keep(e) // it may need a lock
		}
		return
	}
	c.prototype = prototype{plan: p, comm: r.instances.comm(e.Comm), own: int32(e.OwnRank)}
	c.request = noRequest
	from := len(r.requests)
	switch p.action {
	case send, receive, sendReceive, collective:
		r.operation(c, e)
	case start:
		r.started(p.in(e, semantics.Request))
	case requestFree:
		r.id(p.in(e, semantics.Request), envelope{})
	case wait, waitAny, waitSome, waitAll:
		if c.open {
			r.started(p.in(e, semantics.Request)) // all that it waits for
		} else if c.unsuccessful = p.missed(e); !c.unsuccessful {
			r.completed(p, e)
		}
	case requestStatus:
		if c.open {
			c.event = timeline.Keep(e)
			r.started(p.in(e, semantics.Request))
		} else if c.unsuccessful = p.missed(e); !c.unsuccessful {
			r.completed(p, e)
		}
	case probe:
		if c.open {
			r.operation(c, e) // what it waits for
		} else if c.unsuccessful = p.missed(e); !c.unsuccessful {
			r.itself(p, e)
		}
	case matchedProbe:
		if c.open {
			r.operation(c, e)
		} else {
			c.event = timeline.Keep(e)
		}
	case initialize, finalize:
	default:
		c.event = timeline.Keep(e)
	}
	c.requests = r.requests[from:len(r.requests):len(r.requests)]
}

// operation reads a call that creates an operation: blocking, with a request, or persistent.
func (r *reader) operation(c *Call, e *trace.Event) {
	o := &c.prototype
	p := o.plan
	o.dest = rank(p.in(e, semantics.Destination))
	o.source = rank(p.in(e, semantics.Source))
	o.tag = number(p.in(e, semantics.Tag))
	o.receiveTag = o.tag
	if p.In[semantics.ReceiveTag] >= 0 {
		o.receiveTag = number(p.in(e, semantics.ReceiveTag))
	}
	o.root = rank(p.in(e, semantics.Root))
	if p.In[semantics.Partitions] >= 0 {
		o.partitions = int32(min(number(p.in(e, semantics.Partitions)), maxPartitions+1))
	}
	if p.Completion == semantics.Blocking {
		r.itself(p, e)
	} else if id := p.out(e, semantics.Request); id.Form == trace.Handle {
		c.request = id.Int
	}
	if p.action == collective {
		o.bytes = p.buffer.Of(e, r.communicators)
	}
	if p.graph {
		c.event = timeline.Keep(e)
	}
}

// started reads the requests that a call starts.
func (r *reader) started(v *trace.Value) {
	if v.Form != trace.List {
		r.id(v, envelope{})
		return
	}
	for i := range v.List {
		r.id(&v.List[i], envelope{})
	}
}

// completed reads the requests that a call completes, with their statuses.
func (r *reader) completed(p *plan, e *trace.Event) {
	statuses, action := p.out(e, semantics.Status), p.action
	if action == requestStatus {
		action = p.completingAction(p.in(e, semantics.Request))
	}
	p.eachCompleted(action, e, func(request *trace.Value, k int) { r.id(request, statusIn(statuses, k)) })
}

// eachCompleted calls yield for each request that a call completes, with the index of its status.
func (p *plan) eachCompleted(action action, e *trace.Event, yield func(request *trace.Value, k int)) {
	requests := p.in(e, semantics.Request)
	switch action {
	case wait:
		yield(requests, 0)
	case waitAll:
		for i := range requests.List {
			yield(&requests.List[i], i)
		}
	case waitAny:
		if i := number(p.out(e, semantics.Index)); i >= 0 && i < int64(len(requests.List)) {
			yield(&requests.List[i], 0)
		}
	case waitSome:
		indices := p.out(e, semantics.Index)
		if indices.Form != trace.List {
			return
		}
		for k := range indices.List {
			if i := number(&indices.List[k]); i >= 0 && i < int64(len(requests.List)) {
				yield(&requests.List[i], k)
			}
		}
	}
}

// EachCompleted calls yield for each request, by its symbolic id, that a call of a function waits
// or tests for successfully.
func EachCompleted(f *semantics.Function, e *trace.Event, yield func(request int64)) {
	p := plan{Function: *f}
	if p.action, _ = actionOf(f); p.action < wait || p.action > waitAll || e.Unfinished() || p.missed(e) {
		return
	}
	p.eachCompleted(p.action, e, func(request *trace.Value, _ int) {
		if request.Form == trace.Handle {
			yield(request.Int)
		}
	})
}

// id records a request, unless it is MPI_REQUEST_NULL.
func (r *reader) id(v *trace.Value, status envelope) {
	if v.Form == trace.Handle {
		r.requests = append(r.requests, completed{v.Int, status})
	}
}

// itself reads the status of the operation that the call itself completes.
func (r *reader) itself(p *plan, e *trace.Event) {
	if p.Out[semantics.Status] >= 0 {
		r.requests = append(r.requests, completed{noRequest, statusIn(p.out(e, semantics.Status), 0)})
	}
}

// failed reports whether a call returned an error. A failed operation was not posted and has no
// partner.
func failed(v *trace.Value) bool {
	return v.Form == trace.Int && v.Int != 0 || v.Form == trace.Name && v.Text != "MPI_SUCCESS" || v.Form == trace.Null
}
