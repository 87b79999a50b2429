package match

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A Call is a call with what matching needs of its arguments, read where the call was decoded: there they are at hand, and
// other processors do it.
type Call struct {
	timeline.Record
	Poll     polling.Poll
	Terminal int32 // its signature, an index into the trace's

	open      bool // it never returned: its rank ended in it
	idle      bool // it failed, or concerns no other rank
	vain      bool // it asked for something, and was told no
	prototype      // of the operation that it makes
	request   int64
	requests  []completed  // that it starts, completes or frees; of a call that completes something itself, the status alone
	event     *trace.Event // of calls of rare kinds, whose arguments are read when they are matched; nil for others
}

// noRequest is none that a symbolic id stands for.
const noRequest = -1 << 62

// status is that of what the call completes itself.
func (c *Call) status() envelope {
	if len(c.requests) == 0 {
		return envelope{bytes: -1}
	}
	return c.requests[0].envelope
}

// A completed is a request and what became of it.
type completed struct {
	request int64
	envelope
}

// each calls f for every call of the trace, in the order in which calls were entered. A call is valid until f returns.
func each(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks, f func(*Call) error) error {
	ctx = passes.Named(ctx, "matching calls")
	var c Call
	return timeline.EachRead(ctx, t, clocks, newReading(t).reader, func(by *reader, enter int64, made *packed) error {
		by.unpack(made, enter, &c)
		return f(&c)
	})
}

// All matches all calls of a trace, in the order in which they were entered, tells see of each before (nil: nobody), and
// returns what found no partner.
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

// A reading is what all readers share: how to read the calls of each terminal.
type reading struct {
	terminals     []terminalPlan
	instances     instances
	communicators []trace.Communicator
	decoded       func(*timeline.Call)
	gaps          []*polling.LocationGaps // by location: several readers take turns at its calls
	known         []knownCalls            // likewise
}

type terminalPlan struct {
	plan      *plan
	function  *trace.Function
	semantics *semantics.Function
	signature *trace.Signature
	outcome   outcome
	fixed     bool // all its calls have the same arguments on a thread, as long as their communicator is the same
}

// An outcome is what a signature says of whether its calls failed.
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
		case s.Return.Form != trace.Int && s.Return.Form != trace.Name:
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
	terminals []terminalPlan // the reading's
	location  int
	begin     uint64      // the index of the first call since Reset,
	requests  []completed // the requests of all,
	whole     []Call      // and those that are not packed
	*reading
	empty bool
	call  Call // that is read
}

// reader makes a reader of the calls of a location.
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
	r.read(made, &r.call)
	r.pack(&r.call, first, to)
	if fixed && to.flags&packedWhole == 0 {
		r.known[r.location].add(made.Event, to, r.requests[first:], len(r.terminals))
	}
}

// read takes from a call what matching needs of it.
func (r *reader) read(made *timeline.Call, c *Call) {
	e := made.Event
	terminal := &r.terminals[e.Terminal]
	p := terminal.plan
	if made.Apart {
		*c = Call{Record: made.Record, Terminal: e.Terminal, prototype: prototype{plan: p}, idle: true}
		return
	}
	c.Record, c.Poll, c.Terminal = made.Record, r.gaps[made.Location].See(e), e.Terminal
	c.open, c.idle, c.vain, c.request, c.requests, c.event = e.Unfinished(), false, false, 0, nil, nil
	if p.action == ignore || p.canFail() && (terminal.outcome == failedAlways || terminal.outcome == perCall && failed(&e.Return)) {
		c.prototype, c.idle = prototype{plan: p}, true
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
		} else if c.vain = p.missed(e); !c.vain {
			r.completed(p, e)
		}
	case requestStatus:
		if c.vain = p.missed(e); !c.vain {
			r.completed(p, e)
		}
	case probe:
		if c.open {
			r.operation(c, e)
		} else if c.vain = p.missed(e); !c.vain {
			r.itself(p, e)
		}
	case initialize, finalize:
	default:
		c.event = timeline.Keep(e)
	}
	c.requests = r.requests[from:len(r.requests):len(r.requests)]
}

// operation reads a call that makes an operation: at once, by a request, or for later starts.
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
	} else if id := p.out(e, semantics.Request); id.Form == trace.Handle || id.Form == trace.Int {
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
	requests, statuses := p.in(e, semantics.Request), p.out(e, semantics.Status)
	action := p.action
	if action == requestStatus {
		action = p.looksLike(requests)
	}
	switch action {
	case wait:
		r.id(requests, statusIn(statuses, 0))
	case waitAll:
		for i := range requests.List {
			r.id(&requests.List[i], statusIn(statuses, i))
		}
	case waitAny:
		if i := number(p.out(e, semantics.Index)); i >= 0 && i < int64(len(requests.List)) {
			r.id(&requests.List[i], statusIn(statuses, 0))
		}
	case waitSome:
		indices := p.out(e, semantics.Index)
		if indices.Form != trace.List {
			return
		}
		for k := range indices.List {
			if i := number(&indices.List[k]); i >= 0 && i < int64(len(requests.List)) {
				r.id(&requests.List[i], statusIn(statuses, k))
			}
		}
	}
}

// id notes a request, unless it is MPI_REQUEST_NULL.
func (r *reader) id(v *trace.Value, status envelope) {
	if v.Form == trace.Handle || v.Form == trace.Int {
		r.requests = append(r.requests, completed{v.Int, status})
	}
}

// itself reads the status of what a call completes itself.
func (r *reader) itself(p *plan, e *trace.Event) {
	if p.Out[semantics.Status] >= 0 {
		r.requests = append(r.requests, completed{noRequest, statusIn(p.out(e, semantics.Status), 0)})
	}
}

// failed reports whether a call returned an error. An operation that was not posted has no partner.
func failed(v *trace.Value) bool {
	return v.Form == trace.Int && v.Int != 0 || v.Form == trace.Name && v.Text != "MPI_SUCCESS"
}
