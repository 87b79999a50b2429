package trace

import (
	"errors"
	"fmt"
	"math"
)

// Names of the communicators that every rank has.
const (
	commWorld = "MPI_COMM_WORLD"
	commSelf  = "MPI_COMM_SELF"
)

// A Cursor decodes the calls of one thread in order: streams and relative ranks are replaced by what the call had,
// communicators are resolved, ticks become nanoseconds. Its memory grows with the depth of the grammar and the number
// of streams, not with the number of calls.
type Cursor struct {
	shared *Content
	plans  []callPlan
	walk   *Walk
	clock  clockMap
	thread *Thread
	rank   *Rank
	event  Event
	next   uint64 // index of the next call
	err    error

	calls map[int32]*variableCall // of variable signatures and creating ones
	comms map[int64]binding       // communicator handle → what it stands for now
	world binding
	self  binding

	stream func(sequence int) (valueStream, error)
	timing func(at uint64) (timingPart, error) // nil: no timing
	part   timingPart
	until  uint64 // first call after part
	ticks  int64  // exit of the previous call
}

// A binding is a communicator instance (−1: unknown) and the caller's rank in it.
type binding struct {
	comm, ownRank int
}

// Cursor decodes the calls of one thread in order, reading timing and value streams as it goes.
func (t *Reader) Cursor(rank, thread int) (*Cursor, error) {
	i := t.shared.thread(rank, thread)
	if i < 0 {
		return nil, fmt.Errorf("trace: no thread %d of rank %d", thread, rank)
	}
	c := newCursor(&t.shared, t.plans, i)
	c.stream = func(sequence int) (valueStream, error) {
		b, err := t.sequenceBytes(sequence)
		return valueStream{encoded: newSequenceReader(b)}, err
	}
	if t.timed[i] {
		c.timing = func(at uint64) (timingPart, error) {
			t.budget.give(c.part.size)
			return t.timingPart(i, at)
		}
	}
	return c, nil
}

// Cursor decodes the calls of one thread in order. c must be valid (see Validate). To have many cursors, open the
// trace with a Reader, which does more of the work once.
func (c *Content) Cursor(rank, thread int) (*Cursor, error) {
	i := c.thread(rank, thread)
	if i < 0 {
		return nil, fmt.Errorf("trace: no thread %d of rank %d", thread, rank)
	}
	cursor := newCursor(c, planCalls(c), i)
	cursor.stream = func(sequence int) (valueStream, error) {
		return valueStream{values: c.Sequences[sequence]}, nil
	}
	if t := &c.Threads[i]; len(t.Gaps) > 0 {
		cursor.timing = func(uint64) (timingPart, error) {
			return timingPart{gaps: valueStream{values: t.Gaps}, durations: valueStream{values: t.Durations}, calls: t.Calls}, nil
		}
	}
	return cursor, nil
}

func newCursor(shared *Content, plans []callPlan, thread int) *Cursor {
	t := &shared.Threads[thread]
	c := &Cursor{
		shared: shared, plans: plans, thread: t, rank: shared.rank(t.Rank),
		walk:  shared.Grammar.Walk(t.Root),
		calls: map[int32]*variableCall{}, comms: map[int64]binding{},
		ticks: t.FirstTick,
		world: binding{-1, t.Rank}, self: binding{-1, 0},
	}
	c.clock = newClockMap(&c.rank.Clock)
	c.event.Rank, c.event.Thread = t.Rank, t.Thread
	for _, k := range c.rank.CommunicatorsOwn {
		switch shared.Communicators[k].GlobalName {
		case commWorld:
			c.world.comm = int(k)
		case commSelf:
			c.self.comm = int(k)
		}
	}
	return c
}

// Next goes to the next call; false at the end or on an error.
func (c *Cursor) Next() bool {
	if c.err != nil {
		return false
	}
	terminal, ok := c.walk.Next()
	if !ok {
		return false
	}
	e, p := &c.event, &c.plans[terminal]
	s := &c.shared.Signatures[terminal]
	e.Index = c.next
	e.Terminal = terminal
	e.Function, e.Site, e.Signature = p.function, p.site, s
	e.Comm, e.OwnRank, e.NewComm = -1, -1, -1
	e.In, e.Out, e.Return = s.In, s.Out, s.Return
	if !p.variable && !p.creates {
		if p.comm >= 0 {
			b := c.communicator(&s.In[p.comm], s.OwnRank)
			e.Comm, e.OwnRank = b.comm, b.ownRank
		}
	} else if !c.substitute(p, s) {
		return false
	}
	if c.timing != nil && !c.time() {
		return false
	}
	c.next++
	return true
}

// Event is the current call, valid until the next call of Next.
func (c *Cursor) Event() *Event { return &c.event }

// Err is the error that ended the iteration, if any.
func (c *Cursor) Err() error { return c.err }

func (c *Cursor) fail(err error) bool {
	c.err = fmt.Errorf("trace: rank %d thread %d call %d: %w", c.thread.Rank, c.thread.Thread, c.next, err)
	return false
}

// time sets the times of the current call.
func (c *Cursor) time() bool {
	if c.next == c.until {
		var err error
		if c.part, err = c.timing(c.next); err != nil {
			c.err = err
			return false
		}
		c.until += c.part.calls
	}
	gap, ok1 := c.part.gaps.next()
	duration, ok2 := c.part.durations.next()
	if !ok1 || !ok2 {
		return c.fail(errSequence)
	}
	e := &c.event
	e.EnterTicks = c.ticks + gap
	e.ExitTicks = e.EnterTicks + duration
	c.ticks = e.ExitTicks
	e.Enter, e.Exit = c.clock.nanoseconds(e.EnterTicks), c.clock.nanoseconds(e.ExitTicks)
	return true
}

// communicator resolves the communicator of a call. own is the caller's rank as the signature has it, −1 where it
// does not.
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
	case Handle, Int:
		if known, ok := c.comms[v.Int]; ok {
			b = known
		}
	}
	if b.ownRank < 0 {
		b.ownRank = int(own)
	}
	return b
}

// bind finds the caller's rank in a communicator instance.
func (c *Cursor) bind(comm int) binding {
	instance := &c.shared.Communicators[comm]
	rank := instance.Members.Index(c.thread.Rank)
	if rank < 0 {
		rank = instance.Remote.Index(c.thread.Rank)
	}
	return binding{comm, rank}
}

// A valueStream gives the values of a sequence one by one, from memory or from the encoding.
type valueStream struct {
	values  []int64
	encoded sequenceReader
}

func (v *valueStream) next() (int64, bool) {
	if len(v.values) > 0 {
		x := v.values[0]
		v.values = v.values[1:]
		return x, true
	}
	return v.encoded.next()
}

// A variableCall is the state of a signature with streams or relative ranks on one thread: values that are made anew
// for every call, in memory that is used again.
type variableCall struct {
	in, out []Value
	result  Value
	slots   []slot
	streams map[int64]*valueStream
	created *valueStream
}

// A slot is a value that depends on the call.
type slot struct {
	value  *Value
	form   Form
	offset int64 // of a RankOffset
	stream *valueStream
}

var (
	errStreamEnds   = errors.New("a value stream ends too early")
	errStreamAbsent = errors.New("a value stream is missing")
	errOwnRank      = errors.New("a peer is relative to a rank that is not known")
	errCommunicator = errors.New("a communicator is not in the table")
)

// substitute fills in the values of the current call that its signature does not have.
func (c *Cursor) substitute(p *callPlan, s *Signature) bool {
	e := &c.event
	v := c.calls[e.Terminal]
	if v == nil {
		var err error
		if v, err = c.newVariableCall(s); err != nil {
			return c.fail(err)
		}
		c.calls[e.Terminal] = v
	}
	e.In, e.Out = v.in, v.out
	for i := range v.slots {
		if err := v.slots[i].next(); err != nil {
			return c.fail(err)
		}
	}
	e.Return = v.result
	if p.comm >= 0 {
		b := c.communicator(&v.in[p.comm], s.OwnRank)
		e.Comm, e.OwnRank = b.comm, b.ownRank
	}
	for i := range v.slots {
		if v.slots[i].form == RankOffset {
			if e.OwnRank < 0 {
				return c.fail(errOwnRank)
			}
			*v.slots[i].value = Value{Form: Int, Int: int64(e.OwnRank) + v.slots[i].offset}
		}
	}
	if v.created == nil {
		return true
	}
	comm, ok := v.created.next()
	if !ok {
		return c.fail(errStreamEnds)
	}
	if comm < 0 || comm >= int64(len(c.shared.Communicators)) {
		return c.fail(errCommunicator)
	}
	e.NewComm = int(comm)
	c.created(p, e)
	return true
}

// created binds the communicator that a call made to its handle; a call that returns no handle (MPI_Init) makes
// MPI_COMM_WORLD.
func (c *Cursor) created(p *callPlan, e *Event) {
	b := c.bind(e.NewComm)
	if p.newComm < 0 {
		c.world = b
		return
	}
	if v := &e.Out[p.newComm]; v.Form == Handle || v.Form == Int {
		c.comms[v.Int] = b
	}
}

func (c *Cursor) newVariableCall(s *Signature) (*variableCall, error) {
	v := &variableCall{in: cloneValues(s.In), out: cloneValues(s.Out), streams: map[int64]*valueStream{}}
	v.result = s.Return
	v.result.List = cloneValues(s.Return.List)
	find := func(number int64) (*valueStream, error) {
		if known := v.streams[number]; known != nil {
			return known, nil
		}
		ref, ok := c.thread.stream(c.event.Terminal, number)
		if !ok {
			return nil, errStreamAbsent
		}
		stream, err := c.stream(int(ref.Sequence))
		v.streams[number] = &stream
		return &stream, err
	}
	var collect func(value *Value) error
	collect = func(value *Value) error {
		switch value.Form {
		case Stream, ListStream:
			stream, err := find(value.Int)
			if err != nil {
				return err
			}
			v.slots = append(v.slots, slot{value: value, form: value.Form, stream: stream})
		case RankOffset:
			v.slots = append(v.slots, slot{value: value, form: value.Form, offset: value.Int})
		case List, Status:
			for i := range value.List {
				if err := collect(&value.List[i]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	all := []*Value{&v.result}
	for i := range v.in {
		all = append(all, &v.in[i])
	}
	for i := range v.out {
		all = append(all, &v.out[i])
	}
	for _, value := range all {
		if err := collect(value); err != nil {
			return nil, err
		}
	}
	if s.Communicator.Form == Stream {
		var err error
		if v.created, err = find(s.Communicator.Int); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func cloneValues(values []Value) []Value {
	if values == nil {
		return nil
	}
	clone := make([]Value, len(values))
	for i, v := range values {
		clone[i] = v
		clone[i].List = cloneValues(v.List)
	}
	return clone
}

// next takes the slot's value of the next call from its stream.
func (s *slot) next() error {
	switch s.form {
	case Stream:
		x, ok := s.stream.next()
		if !ok {
			return errStreamEnds
		}
		*s.value = Value{Form: Int, Int: x}
	case ListStream:
		n, ok := s.stream.next()
		if !ok || n > math.MaxInt32 {
			return errStreamEnds
		}
		if n < 0 {
			*s.value = Value{Form: Null}
			return nil
		}
		list := s.value.List[:0]
		for range n {
			x, ok := s.stream.next()
			if !ok {
				return errStreamEnds
			}
			list = append(list, Value{Form: Int, Int: x})
		}
		*s.value = Value{Form: List, List: list}
	}
	return nil
}

// stream finds the sequence of one stream of a signature on this thread.
func (t *Thread) stream(terminal int32, number int64) (StreamRef, bool) {
	if number < 0 || number > math.MaxInt32 {
		return StreamRef{}, false
	}
	want := StreamRef{Terminal: terminal, Number: int32(number)}
	low, high := 0, len(t.Streams)
	for low < high {
		middle := (low + high) / 2
		if compareStreams(t.Streams[middle], want) < 0 {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == len(t.Streams) || compareStreams(t.Streams[low], want) != 0 {
		return StreamRef{}, false
	}
	return t.Streams[low], true
}
