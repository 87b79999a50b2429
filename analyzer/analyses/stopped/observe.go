package stopped

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A state is the state of a rank at its end.
type state struct {
	row, rank       int
	pod, node, host string
	finished        bool   // it returned from MPI_Finalize
	living          bool   // its trace ends before its end, which is unknown
	program         string // that it executed in the end; "": its own
	end             *trace.End
	after           *match.Unreturned // a call after MPI_Finalize that never returned; nil: none
	// last time at which it was known to be alive, on the common clock; after MPI_Finalize its exit
	died  int64
	begin int64 // entry of its first call

	last    call              // last call of its main thread
	longest int64             // its longest computation between two calls
	open    *match.Unreturned // nil: its main thread was not in a call and did not poll
	polls   bool              // open is what it polled for, since open.Enter
	overdue bool
	// what its main thread did outside MPI in the end
	activity verdict.Activity
	detail   detail              // arguments of the open call
	abort    *abort              // nil: none of its threads was in MPI_Abort
	others   []*match.Unreturned // by thread that made calls, except the main one; nil: not in a call
	details  []detail            // of others
	attempt  polling.Attempt
	acted    int64 // when it last entered or left a call that did not poll
}

// A call is a call that has returned.
type call struct {
	function    uint16
	site        uint32
	enter, exit int64
	missed      bool // an unsuccessful test
	there       bool
}

// A detail is the arguments of an open call that matching does not use.
type detail struct {
	root   *int
	code   string // error code of MPI_Abort; "": another function
	peer   string // of a message: "to rank 3", "from rank 3"
	begin  bool   // MPI_Init
	ends   bool   // MPI_Finalize
	faults map[string]fault
	// function is that of the call, signature has its arguments.
	function  *semantics.Function
	signature *trace.Signature
	amount    int64 // of data that all ranks must pass to a collective, in bytes; −1: unknown, or any
}

// An abort is a call of MPI_Abort.
type abort struct {
	call *match.Unreturned
	code string
}

// observation is the result of a pass over all calls.
type observation struct {
	trace       timeline.Trace
	states      []state // by row
	rows        map[int]int
	begin       int64
	collectives collectives
	lost        bool // calls are missing, possibly the partners of unmatched ones
}

// listener is the handler of the pass. It only collects what the ranks waited for at their end.
type listener struct {
	polls              []polls // by location
	unreturned, tested []match.Unreturned
}

func (*listener) Message(*match.Message)             {}
func (*listener) Collective(*match.Collective, int)  {}
func (*listener) Settled(*match.Completion)          {}
func (l *listener) Stopped(calls []match.Unreturned) { l.unreturned = calls }

func observe(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks) (*observation, error) {
	o := newObservation(t, clocks)
	locations := timeline.Locations(t)
	ends := make([]threadEnd, len(locations))
	var once sync.Mutex
	handler := &listener{polls: make([]polls, len(locations))}
	_, err := match.InSections(ctx, t, clocks, handler, nil, func(c *match.Call) {
		ends[c.Location].called = true
		if c.Semantics.Operation == semantics.Finalize && c.Signature.Return.Form != trace.Absent {
			ends[c.Location].finalized = true
		}
		l := locations[c.Location]
		o.states[l.Row].see(c, l.Main == c.Location)
	}, func(c *timeline.Call) {
		if c.Signature.Untraced {
			once.Lock()
			o.lost = true
			once.Unlock()
		}
		if c.Event.Unfinished() {
			ends[c.Location].detail = detailOf(c, t.Communicators())
		}
		handler.polls[c.Location].see(c)
		o.collectives.see(locations[c.Location].Row, c)
	})
	if err != nil {
		return nil, err
	}
	for i := range handler.unreturned {
		u := &handler.unreturned[i]
		ends[u.Location].open = u
	}
	for i, l := range locations {
		o.states[l.Row].ends(&ends[i], l.Main == i)
	}
	if t.Meta().Timing.Mode == timing.Aggregated {
		if err := o.timeBySums(clocks, locations); err != nil {
			return nil, err
		}
	} else {
		o.addPolls(locations, handler.tested)
	}
	for i := range o.states {
		o.begin = min(o.begin, o.states[i].begin)
		o.states[i].activity = activityOf(&o.states[i])
	}
	return o, nil
}

// A threadEnd is what a thread did last.
type threadEnd struct {
	called    bool // at all
	finalized bool // it returned from MPI_Finalize
	open      *match.Unreturned
	detail    detail // of its last open call
}

// ends adds the end of one of the rank's threads.
func (r *state) ends(e *threadEnd, main bool) {
	if e.finalized && e.open != nil {
		r.after, e.open = e.open, nil
	}
	if e.open != nil && e.detail.code != "" && (r.abort == nil || e.open.Enter < r.abort.call.Enter) {
		r.abort = &abort{e.open, e.detail.code}
	}
	switch {
	case main:
		r.open, r.detail = e.open, e.detail
	case e.called:
		r.others, r.details = append(r.others, e.open), append(r.details, e.detail)
	}
}

func newObservation(t timeline.Trace, clocks *timeline.Clocks) *observation {
	o := &observation{trace: t, rows: map[int]int{}, begin: math.MaxInt64, collectives: newCollectives(t)}
	for row, r := range t.Ranks().All() {
		s := state{row: row, rank: r.Rank, pod: r.Pod, node: r.Node, host: r.Host, finished: r.EndedEarly == "", living: r.EndedEarly == trace.Running, begin: math.MaxInt64, end: r.End, program: r.Executed()}
		if r.End != nil {
			s.died = clocks.Time(row, r.Clock.Nanoseconds()(r.End.Ticks))
		}
		o.lost = o.lost || r.Dropped > 0
		o.rows[r.Rank] = row
		o.states = append(o.states, s)
	}
	return o
}

// see adds the next call of one of the rank's threads.
func (r *state) see(c *match.Call, main bool) {
	r.begin = min(r.begin, c.Enter)
	r.died = max(r.died, c.Exit)
	open, kind := c.Signature.Return.Form == trace.Absent, c.Poll.Kind()
	switch {
	case kind == polling.Missed, kind == polling.Aside:
	case open:
		r.acted = max(r.acted, c.Enter)
	default:
		r.acted = max(r.acted, c.Exit)
	}
	if !main {
		return
	}
	if r.attempt.See(c.Poll, &c.Record); open {
		return
	}
	if r.last.there && c.Enter-r.last.exit > r.longest {
		r.longest = c.Enter - r.last.exit
	}
	r.last = call{c.Function.ID, c.Signature.Site, c.Enter, c.Exit, kind == polling.Missed || kind == polling.Aside && r.last.missed, true}
}

// timeBySums takes times from the sums if those of single calls were not recorded: a call that
// never returned has a signature of its own and therefore its own sums. The duration of the last
// computation is not known.
func (o *observation) timeBySums(clocks *timeline.Clocks, locations []timeline.Location) error {
	ranks, signatures := o.trace.Ranks().Lookup(), o.trace.Signatures()
	for i, l := range locations {
		if l.Main != i {
			continue
		}
		s := &o.states[l.Row]
		begin, end := o.trace.Span(i)
		s.begin, s.died, s.last.there, s.longest = clocks.Time(l.Row, begin), max(s.died, clocks.Time(l.Row, end)), false, 0
		s.acted = s.died // it is not known when
		if s.open == nil {
			continue
		}
		aggregates, err := o.trace.Aggregates(i)
		if err != nil {
			return err
		}
		clock := ranks(l.Row).Clock
		at := clock.Nanoseconds()
		for k := range aggregates {
			if a := &aggregates[k]; signatures[a.Terminal].Return.Form == trace.Absent {
				last := at(a.Durations.Sum) - at(0)
				s.open.Enter = s.died - last
				s.acted = s.open.Enter
			}
		}
	}
	return nil
}

func detailOf(c *timeline.Call, comms []trace.Communicator) detail {
	d := detail{
		begin: c.Semantics.Operation == semantics.Initialize, ends: c.Semantics.Operation == semantics.Finalize,
		faults: faultsOf(c, comms), amount: askedIn(c.Event).bytes, function: c.Semantics, signature: c.Signature,
	}
	in := c.Event.In
	if i := c.Semantics.In[semantics.Root]; i >= 0 && int(i) < len(in) && in[i].Form == trace.Int {
		d.root = new(int(in[i].Int))
	}
	for role, direction := range map[semantics.Role]string{semantics.Destination: "to", semantics.Source: "from"} {
		if i := c.Semantics.In[role]; i >= 0 && int(i) < len(in) && in[i].Form == trace.Int {
			d.peer = fmt.Sprintf("%s rank %d", direction, in[i].Int)
		}
	}
	if c.Semantics.Operation == semantics.Abort {
		d.code = "not known"
		if n := len(in); n > 0 && in[n-1].Form == trace.Int {
			d.code = strconv.FormatInt(in[n-1].Int, 10)
		}
	}
	return d
}
