package trace

import (
	"cmp"
	"fmt"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Names of the communicators that every rank has.
const (
	commWorld = "MPI_COMM_WORLD"
	commSelf  = "MPI_COMM_SELF"
)

// A Cursor decodes the calls of one thread in order. It replaces streams and relative ranks by the
// values of the call, resolves communicators, and converts ticks to nanoseconds. Its memory grows
// with the depth of the grammar and the number of streams, not with the number of calls.
type Cursor struct {
	shared *Content
	plans  []callPlan
	walk   *grammar.Walk
	number int // index of thread in shared.Threads
	clock  timing.ClockMap
	thread *Thread
	rank   *Rank
	event  Event
	next   uint64 // index of the next call
	err    error

	calls variableCalls
	comms map[int64]binding // communicator handle → its current communicator
	world binding
	self  binding
	// creations by all threads of the rank; nil: only this thread creates communicators
	creations *rankCreations
	lone      bool // creations is set

	source      source
	part        timingPart
	environment environment
	timed       bool
	until       uint64 // first call after part
	ticks       int64  // exit of the previous call
	off         timing.MomentBound
	overheads   overheads // the remaining ones
	extrapolating

	// of a cursor that was moved by Seek
	lengths []uint64         // of the grammar's rules
	before  map[int32]uint64 // number of calls of a signature before the cursor, if it has not been decoded since
}

// A source provides what is not shared by all threads.
type source interface {
	// stream returns a value sequence, and the coding of its values if they are clock readings.
	stream(sequence int) (codec.ValueStream, clockReading, error)
	// timingPart returns the timing of a thread's calls from at on, where an earlier part ended.
	timingPart(thread int, at uint64) (timingPart, error)
	// memory is the budget of a cursor.
	memory() *codec.Budget
	// hasTimes reports whether the single calls of a thread have times.
	hasTimes(thread int) bool
	// sibling returns the source for another thread.
	sibling(thread int) source
	// creations returns what the cursors of a rank share.
	creations(rank int) *rankCreations
}

// Cursor returns a cursor over the calls of one thread. It reads timing and value streams as
// needed.
func (t *Reader) Cursor(rank, thread int) (*Cursor, error) {
	i := t.shared.thread(rank, thread)
	if i < 0 {
		return nil, fmt.Errorf("trace: no thread %d of rank %d", thread, rank)
	}
	return newCursor(&t.shared, t.plans, i, t), nil
}

// Cursor returns a cursor over the calls of one thread. c must be valid (see Validate) and must not
// change. To open many cursors use a Reader, which does more of the work once.
func (c *Content) Cursor(rank, thread int) (*Cursor, error) {
	i := c.thread(rank, thread)
	if i < 0 {
		return nil, fmt.Errorf("trace: no thread %d of rank %d", thread, rank)
	}
	return newCursor(c, planCalls(c, semanticsOf(c.Functions)), i, &contentSource{c: c}), nil
}

// contentSource reads streams and timing from memory.
type contentSource struct {
	c      *Content
	timing TimingReader // of the cursor's thread
}

func (s *contentSource) stream(sequence int) (codec.ValueStream, clockReading, error) {
	return codec.NewSequenceStream(s.c.Sequences[sequence], nil), clockReading{}, nil
}

func (s *contentSource) timingPart(thread int, at uint64) (timingPart, error) {
	t := s.c.Threads.At(thread)
	if t.Timing == nil {
		return timingPart{gaps: t.Gaps[at:], durations: t.Durations[at:], calls: t.Calls - at}, nil
	}
	if at == 0 {
		var err error
		if s.timing, err = t.Timing.OpenTiming(); err != nil {
			return timingPart{}, err
		}
	}
	n := min(t.Calls-at, timingChunk)
	part := timingPart{gaps: make([]int64, n), durations: make([]int64, n), calls: n}
	if k, err := s.timing.ReadTiming(part.gaps, part.durations); err != nil || uint64(k) < n {
		return timingPart{}, cmp.Or(err, timing.ErrDamaged)
	}
	return part, nil
}

func (s *contentSource) memory() *codec.Budget { return nil }

func (s *contentSource) hasTimes(thread int) bool { return s.c.Threads.timed(thread) }

func (s *contentSource) sibling(int) source { return &contentSource{c: s.c} }

func (s *contentSource) creations(int) *rankCreations { return &rankCreations{} } // each cursor its own

// newCursor returns a cursor at the first call of a thread. It reads the times of calls wherever
// the trace has them, since other values depend on them: clock readings, and, if several threads
// create communicators, which one a handle refers to.
func newCursor(shared *Content, plans []callPlan, thread int, from source) *Cursor {
	row := shared.Threads.At(thread)
	t := &row
	c := &Cursor{
		shared: shared, plans: plans, number: thread, thread: t, rank: shared.rank(t.Rank),
		walk: shared.Grammar.Walk(t.Root), source: from, timed: from.hasTimes(thread), ticks: t.FirstTick,
	}
	c.extrapolating.extrapolations, c.overheads = t.extrapolations(), t.Overheads
	c.environment.columns, c.environment.index = shared.Columns, t.InShape
	c.clock = timing.NewClockMap(&c.rank.Clock)
	c.event.Rank, c.event.Thread, c.event.TimesOf, c.event.Timed = t.Rank, t.Thread, t.Rank, c.timed
	c.event.allocations, c.event.sites = shared.Allocations, shared.Sites
	c.startComms()
	return c
}

// startComms binds the predefined communicators of a rank.
func (c *Cursor) startComms() {
	c.comms, c.world, c.self = map[int64]binding{}, binding{-1, c.thread.Rank}, binding{-1, 0}
	for _, k := range c.rank.CommunicatorsOwn {
		switch c.shared.Communicators[k].GlobalName {
		case commWorld:
			c.world.comm = int(k)
		case commSelf:
			c.self.comm = int(k)
		}
	}
}

// Next moves to the next call. It returns false at the end or on an error.
func (c *Cursor) Next() bool {
	if c.err != nil {
		return false
	}
	terminal, ok := c.walk.Next()
	if !ok {
		c.release()
		return false
	}
	p, s := c.begin(terminal)
	if c.timed && !c.time(terminal) {
		return false
	}
	if !p.variable && !p.creates {
		if p.comm >= 0 {
			b := c.communicator(&s.In[p.comm], c.ownRank(s))
			c.event.Comm, c.event.OwnRank = b.comm, b.ownRank
		}
	} else if !c.substitute(p, s) {
		return false
	}
	if c.err != nil {
		return false
	}
	c.next++
	return true
}

// begin sets the fields of the event that the signature of the next call determines.
func (c *Cursor) begin(terminal int32) (*callPlan, *Signature) {
	e, p, s := &c.event, &c.plans[terminal], &c.shared.Signatures[terminal]
	e.Index = c.next
	e.Terminal = terminal
	e.Function, e.Semantics, e.Site, e.Signature = p.function, p.semantics, p.site, s
	e.Comm, e.OwnRank, e.NewComm = -1, -1, -1
	e.In, e.Out, e.Return = s.In, s.Out, s.Return
	return p, s
}

// Event is the current call, valid until the next call of Next.
func (c *Cursor) Event() *Event { return &c.event }

// Err is the error that ended the iteration, if any.
func (c *Cursor) Err() error { return c.err }

func (c *Cursor) fail(err error) bool {
	c.err = fmt.Errorf("trace: rank %d thread %d call %d: %w", c.thread.Rank, c.thread.Thread, c.next, err)
	return false
}

// release releases the memory of a cursor that is at its end.
func (c *Cursor) release() {
	c.releasePart()
	c.extrapolating.end(c.source.memory())
	c.releaseCalls()
}

// releaseCalls releases the memory of the signatures' values and streams.
func (c *Cursor) releaseCalls() {
	c.calls.each(func(v *variableCall) { v.release(c.source.memory()) })
	c.calls = variableCalls{}
}

// releasePart releases a block of timing.
func (c *Cursor) releasePart() {
	c.part.release(c.source.memory())
	c.part = timingPart{}
}

// time sets the times of the current call.
func (c *Cursor) time(terminal int32) bool {
	isExtrapolated := len(c.thread.Extrapolations) > 0 && c.isExtrapolated()
	if c.next == c.until {
		var err error
		c.releasePart()
		if c.part, err = c.source.timingPart(c.number, c.next); err != nil {
			c.err = err
			return false
		}
		c.until += c.part.calls
		if c.part.inFile() && !c.extrapolating.passing {
			begin := c.thread.FirstTick + c.part.start
			switch {
			case !isExtrapolated || !c.extrapolating.loaded:
				c.ticks = begin
			case c.extrapolating.start != begin:
				// the block begins in the middle of an interval, and has the tick of that
				return c.fail(timing.ErrDamaged)
			}
		}
	}
	var gap, duration int64
	e := &c.event
	e.OverheadTicks, e.Overhead = c.overheads.before(c.next), 0
	if e.OverheadTicks > 0 {
		c.ticks += e.OverheadTicks
		c.extrapolating.start += e.OverheadTicks
		e.Overhead = c.clock.Nanoseconds(c.ticks) - c.clock.Nanoseconds(c.ticks-e.OverheadTicks)
	}
	if isExtrapolated {
		c.part.pass()
		var err error
		if gap, duration, err = c.extrapolated(); err != nil {
			return c.fail(err)
		}
		e.TimesOf = c.extrapolating.timesOf
	} else {
		var ok bool
		if gap, duration, ok = c.part.next(terminal); !ok {
			return c.fail(timing.ErrDamaged)
		}
		e.TimesOf = c.thread.Rank
	}
	e.EnterTicks = c.ticks + gap
	e.ExitTicks = e.EnterTicks + duration
	c.ticks = e.ExitTicks
	e.Enter, e.Exit = c.clock.Nanoseconds(e.EnterTicks), c.clock.Nanoseconds(e.ExitTicks)
	switch grid := c.plans[terminal].grid; {
	case c.part.sums != nil:
		c.stretchErrors(grid != nil)
	case grid != nil:
		c.errors(grid, gap, duration, isExtrapolated)
	default:
		e.EnterError, e.ExitError = 0, 0
	}
	return true
}

// stretchErrors sets the error of the times of the current call if only sums are known: it was at
// some time within its stretch.
func (c *Cursor) stretchErrors(rounded bool) {
	off := c.part.sums.Span + c.part.beside
	if rounded {
		c.off.Reset()
		off += c.off.Ticks
	}
	e := &c.event
	e.EnterError = c.clock.AtMost(off)
	e.ExitError = e.EnterError
}

// errors sets the error of the times of the current call.
func (c *Cursor) errors(g *timing.Grid, gap, duration int64, isExtrapolated bool) {
	if isExtrapolated || c.next > 0 && c.next%timing.BlockCalls == 0 {
		c.off.Reset()
	}
	e := &c.event
	if isExtrapolated {
		e.EnterError = c.clock.AtMost(c.off.Ticks)
		e.ExitError = e.EnterError
		return
	}
	gapStep, durationStep := c.part.steps(g, gap, duration)
	c.off.Move(gapStep)
	e.EnterError = c.clock.AtMost(c.off.Ticks)
	c.off.Move(durationStep)
	e.ExitError = c.clock.AtMost(c.off.Ticks)
}

// ownRank returns the caller's rank in the communicator of the call, according to the signature.
func (c *Cursor) ownRank(s *Signature) int32 {
	if s.OwnRank > -2 {
		return s.OwnRank
	}
	own, _ := c.environment.column(-2 - int64(s.OwnRank))
	return int32(own)
}

// communicator resolves the communicator of a call. own is the caller's rank according to the
// signature, −1 if unknown.
func (c *Cursor) communicator(v *Value, own int32) binding {
	b := binding{-1, -1}
	switch v.Form {
	case Name:
		switch v.Text {
		case commWorld:
			b = c.world
		case commSelf:
			b = c.self
		}
	case Handle:
		b = c.bound(v.Int)
	}
	if b.ownRank < 0 {
		b.ownRank = int(own)
	}
	return b
}

// A callPlan has the properties of a signature that a cursor needs and that are the same on all
// threads.
type callPlan struct {
	function  *Function
	semantics *semantics.Function
	site      *Site
	comm      int          // position in In of the call's communicator, −1
	newComm   int          // position in Out of a communicator handle, −1
	variable  bool         // some value depends on the thread or the call: a stream or an elastic value
	creates   bool         // Signature.Communicator is a stream
	grid      *timing.Grid // of the call's times; nil: they are not rounded
}

// planCalls returns the plans of all signatures; means are the semantics of c's functions.
func planCalls(c *Content, means []*semantics.Function) []callPlan {
	plans := make([]callPlan, len(c.Signatures))
	settings := &c.Meta.Timing
	for i := range c.Signatures {
		s := &c.Signatures[i]
		p := &plans[i]
		function := c.functionIndex(s.Function)
		p.function, p.semantics = &c.Functions[function], means[function]
		if settings.Mode == timing.Lossy {
			p.grid, _ = settings.GridOf(p.function.Name) // Validate has checked the error
		}
		if s.Site > 0 {
			p.site = &c.Sites[s.Site-1]
		}
		p.comm = position(p.semantics.In[semantics.Communicator], s.In)
		p.newComm = position(p.semantics.Out[semantics.Communicator], s.Out)
		p.creates = s.Communicator.Form == Stream
		p.variable = s.Return.Varies() || anyVaries(s.In) || anyVaries(s.Out)
	}
	return plans
}

// position returns at, or −1 if values has no such element: a damaged trace may have too few.
func position(at int8, values []Value) int {
	if int(at) >= len(values) {
		return -1
	}
	return int(at)
}

// planTiming returns the timing plan for calls with these signatures.
func planTiming(signatures []Signature, m *Meta, functions []Function) (*timing.Plan, error) {
	p := &timing.Plan{Functions: make([]int32, len(signatures)), Grids: make([]*timing.Grid, len(signatures))}
	byFunction := map[uint16]*timing.Grid{}
	if m.Timing.Mode == timing.Lossy {
		for i := range functions {
			g, err := m.Timing.GridOf(functions[i].Name)
			if err != nil {
				return nil, err
			}
			byFunction[functions[i].ID] = g
		}
	}
	for i := range signatures {
		p.Functions[i] = int32(signatures[i].Function)
		p.Grids[i] = byFunction[signatures[i].Function]
	}
	return p, nil
}
