package trace

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// A variableCall is the state of a signature with streams or relative ranks on one thread: values
// that are filled in for every call, in memory that is reused.
type variableCall struct {
	in, out []Value
	result  Value
	// of Signature.Communicator: index into the rank's list of communicators; nil: the
	// call creates none
	instance *Value
	slots    []slot
	streams  int // number of slots with streams; these come first
	// elastic values are recomputed when their environment differs from that of the call before
	elastic  bool          // there are elastic values, or streams relative to the rank
	relative bool          // there are streams relative to the rank
	resolved bool          // elastic values are valid for calls on at
	reading  *clockReading // coding of the result, if it is relative to the call; else nil
	at       binding       // the communicator and the caller's rank in it
}

// A slot is a value that depends on the call.
type slot struct {
	value   *Value
	fill    *filling // nil: elastic
	elastic Value    // as the signature has it
	add     bool     // add r to the stream's value
	peer    bool     // the value is a rank
	meaning meaning  // of a number that is computed
	stream  *codec.ValueStream
	state   requestList // state of a change filling
	booked  int64
}

// variableCalls maps terminals to a thread's variableCall: an array if there are few signatures.
type variableCalls struct {
	few  []*variableCall
	many map[int32]*variableCall
}

const fewSignatures = 1 << 12

func (v *variableCalls) get(terminal int32) *variableCall {
	if int(terminal) < len(v.few) {
		return v.few[terminal]
	}
	return v.many[terminal]
}

func (v *variableCalls) put(terminal int32, call *variableCall, signatures int) {
	if v.few == nil && v.many == nil {
		if signatures <= fewSignatures {
			v.few = make([]*variableCall, signatures)
		} else {
			v.many = map[int32]*variableCall{}
		}
	}
	if v.few != nil {
		v.few[terminal] = call
	} else {
		v.many[terminal] = call
	}
}

func (v *variableCalls) each(visit func(*variableCall)) {
	for _, call := range v.few {
		if call != nil {
			visit(call)
		}
	}
	for _, call := range v.many {
		visit(call)
	}
}

var (
	errStreamAbsent = errors.New("a value stream is missing")
	errOwnRank      = errors.New("a peer is relative to a rank that is not known")
	errCommunicator = errors.New("a communicator is not in the rank's list")
)

// substitute fills in the variable values of the current call.
func (c *Cursor) substitute(p *callPlan, s *Signature) bool {
	e := &c.event
	v := c.calls.get(e.Terminal)
	if v == nil {
		var err error
		if v, err = c.newVariableCall(p.function, s); err != nil {
			return c.fail(err)
		}
		c.calls.put(e.Terminal, v, len(c.shared.Signatures))
	}
	e.In, e.Out = v.in, v.out
	for i := range v.streams {
		if err := v.slots[i].next(c.source.memory()); err != nil {
			return c.fail(err)
		}
	}
	if p.comm >= 0 {
		b := c.communicator(&v.in[p.comm], c.ownRank(s))
		e.Comm, e.OwnRank = b.comm, b.ownRank
	}
	if at := (binding{e.Comm, e.OwnRank}); v.elastic && (v.relative || !v.resolved || v.at != at) {
		if err := v.resolve(c.environmentOf(p, e.OwnRank)); err != nil {
			return c.fail(err)
		}
		v.resolved, v.at = true, at
	}
	e.Return = v.result
	if v.reading != nil {
		if !c.timed {
			return c.fail(errReadings)
		}
		e.Return.Int = v.reading.value(e.Return.Int, e.Exit)
	}
	if v.instance == nil {
		return true
	}
	var err error
	if e.NewComm, err = c.instance(v); err != nil {
		return c.fail(err)
	}
	c.created(p, e)
	return true
}

// instance returns the communicator that the current call of v creates.
func (c *Cursor) instance(v *variableCall) (int, error) {
	comm := v.instance.Int
	if comm < 0 || comm >= int64(len(c.rank.CommunicatorsOwn)) {
		return -1, errCommunicator
	}
	return int(c.rank.CommunicatorsOwn[comm]), nil
}

// newVariableCall copies the values of a signature and finds the slots among them and their
// streams. Values consume streams in the order: result, In, Out, communicator.
func (c *Cursor) newVariableCall(f *Function, s *Signature) (*variableCall, error) {
	v := &variableCall{in: cloneVarying(s.In), out: cloneVarying(s.Out), result: s.Return}
	v.result.List = cloneVarying(s.Return.List)
	b := slotBuilder{cursor: c, call: v, streams: map[int64]*codec.ValueStream{}}
	b.add(&v.result, f.Return, false)
	if reading := b.reading; v.result.Form == Stream && reading.form != plainReadings {
		v.reading = &reading
	}
	in, out := v.in, v.out
	for _, outputs := range []bool{false, true} {
		for i := range f.Parameters {
			p := &f.Parameters[i]
			switch {
			case !outputs && p.Direction != Out && len(in) > 0:
				b.add(&in[0], p.Kind, p.List)
				in = in[1:]
			case outputs && p.Direction != In && len(out) > 0:
				b.add(&out[0], p.Kind, p.List)
				out = out[1:]
			}
		}
	}
	if s.Communicator.Form == Stream {
		v.instance = new(Value)
		v.slots = append(v.slots, slot{value: v.instance, fill: &fillNumber[plainNumber], stream: b.stream(s.Communicator.Int)})
	}
	v.arrange()
	if n := c.before[c.event.Terminal]; n > 0 && b.err == nil {
		b.err = v.skip(n, c.source.memory())
	}
	return v, b.err
}

// arrange moves slots with streams to the front, in their order, which is the order in which they
// consume a stream.
func (v *variableCall) arrange() {
	for v.streams < len(v.slots) && v.slots[v.streams].stream != nil {
		v.streams++
	}
	if !slices.ContainsFunc(v.slots[v.streams:], func(s slot) bool { return s.stream != nil }) {
		return
	}
	var others []slot
	for _, s := range v.slots[v.streams:] {
		if s.stream == nil {
			others = append(others, s)
			continue
		}
		v.slots[v.streams] = s
		v.streams++
	}
	copy(v.slots[v.streams:], others)
}

// environmentOf returns the environment of the current call; own is the caller's rank in its
// communicator.
func (c *Cursor) environmentOf(p *callPlan, own int) *environment {
	c.environment.rank, c.environment.known = int64(own), own >= 0
	if p.comm < 0 {
		c.environment.rank, c.environment.known = int64(c.thread.Rank), true
	}
	c.transpose(own)
	return &c.environment
}

// resolve computes the elastic values.
func (v *variableCall) resolve(at *environment) error {
	for i := range v.slots {
		s := &v.slots[i]
		switch {
		case s.add:
			if !at.known {
				return errOwnRank
			}
			*s.value = s.meaning.normalized(Value{Form: Int, Int: s.value.Int + at.rank})
		case s.fill == nil:
			x, err := at.evaluate(s.elastic)
			if err != nil {
				return err
			}
			x.List = nil
			if s.peer && at.moved != 0 && x.Form == Int && at.recordedPerRank(s.elastic) {
				x.Int = floorMod(x.Int+at.moved, max(at.members, 1))
			}
			*s.value = s.meaning.normalized(x)
		}
	}
	return nil
}

// release returns the memory of the values. v must not be used after it.
func (v *variableCall) release(m *codec.Budget) {
	for i := range v.slots[:v.streams] {
		s := &v.slots[i]
		m.Give(s.booked)
		s.booked = 0
		s.stream.Release(m)
	}
}

// A slotBuilder collects the slots of a variableCall. It keeps the first error.
type slotBuilder struct {
	cursor  *Cursor
	call    *variableCall
	streams map[int64]*codec.ValueStream
	reading clockReading // coding of the latest stream
	err     error
}

func (b *slotBuilder) add(v *Value, kind string, list bool) {
	switch v.Form {
	case RankOffset, Column:
		b.elastic(elasticSlot(v, kind))
	case Elastic:
		s := elasticSlot(v, kind)
		if Operator(v.Int) == RelativeStream && len(v.List) == 1 {
			s.fill, s.add, s.stream = &fillNumber[plainNumber], true, b.stream(v.List[0].Int)
			b.call.relative = true
		}
		b.elastic(s)
	case Stream:
		b.call.slots = append(b.call.slots, slot{value: v, fill: fillingOf(kind), stream: b.stream(v.Int)})
	case ListStream:
		b.call.slots = append(b.call.slots, slot{value: v, fill: listFillingOf(kind, list), stream: b.stream(v.Int)})
	case Status:
		for i := range v.List {
			of := ""
			if i == 0 {
				of = sourceKind
			}
			b.add(&v.List[i], of, false)
		}
	case List:
		for i := range v.List {
			b.add(&v.List[i], kind, false)
		}
	}
}

// elasticSlot is a slot for a value that depends on the thread and its rank.
func elasticSlot(v *Value, kind string) slot {
	return slot{value: v, elastic: *v, peer: kind == rankKind || kind == sourceKind, meaning: meanings[kind]}
}

// elastic adds a slot that depends on the thread and its rank.
func (b *slotBuilder) elastic(s slot) {
	b.call.elastic = true
	b.call.slots = append(b.call.slots, s)
}

// stream returns the signature's stream with this number, which is opened once.
func (b *slotBuilder) stream(number int64) *codec.ValueStream {
	if known := b.streams[number]; known != nil {
		return known
	}
	ref, ok := b.cursor.thread.Stream(b.cursor.event.Terminal, int32(number))
	if !ok || number < 0 || number > math.MaxInt32 {
		b.err = cmp.Or(b.err, errStreamAbsent) // once: there may be thousands
		return nil
	}
	stream, reading, err := b.cursor.source.stream(int(ref.Sequence))
	if err != nil {
		b.err = errors.Join(b.err, err)
	}
	b.streams[number], b.reading = &stream, reading
	return &stream
}

// cloneVarying copies the values of a signature that calls fill in, and shares the others.
func cloneVarying(values []Value) []Value {
	if !anyVaries(values) {
		return values
	}
	clone := slices.Clone(values)
	for i := range clone {
		switch clone[i].Form {
		case List, Status:
			clone[i].List = cloneVarying(clone[i].List)
		case ListStream:
			clone[i].List = nil
		}
	}
	return clone
}

// Varies reports whether a value of a signature, or one inside of it, is filled in for each call or
// thread.
func (v *Value) Varies() bool {
	switch v.Form {
	case RankOffset, Column, Elastic, Stream, ListStream:
		return true
	case List, Status:
		return anyVaries(v.List)
	}
	return false
}

func anyVaries(values []Value) bool {
	return slices.ContainsFunc(values, func(v Value) bool { return v.Varies() })
}

// HasStreams reports whether calls of the signature may differ on one thread: a value, or the
// communicator that a call creates, is that of a stream. Calls of any other signature have equal
// values on a thread as long as they are on the same communicator instance.
func (s *Signature) HasStreams() bool {
	return s.Communicator.Form == Stream || s.Return.hasStream() || slices.ContainsFunc(s.In, Value.hasStream) || slices.ContainsFunc(s.Out, Value.hasStream)
}

// hasStream reports whether a value, or one inside of it, is that of a stream.
func (v Value) hasStream() bool {
	switch v.Form {
	case Stream, ListStream:
		return true
	case Elastic:
		return Operator(v.Int) == RelativeStream
	case List, Status:
		return slices.ContainsFunc(v.List, Value.hasStream)
	}
	return false
}

// next decodes the slot's value of the next call from its stream.
func (s *slot) next(m *codec.Budget) error { return s.take(m, true) }

// take consumes the slot's value of the next call. A value that is not wanted is decoded only if
// later ones depend on it. This is the only function that knows where a call's part of a stream
// ends.
func (s *slot) take(m *codec.Budget, wanted bool) error {
	x, ok := s.stream.Next()
	if !ok {
		return s.stream.Err()
	}
	f := s.fill
	if f.number != nil {
		if wanted {
			f.number(s.value, x)
		}
		return nil
	}
	if x < 0 {
		if wanted {
			*s.value = Value{Form: Null, List: s.value.List[:0]}
		}
		return nil
	}
	if x > math.MaxInt32 {
		return codec.ErrSequence
	}
	if f.change == nil && !wanted {
		if !s.stream.Skip(uint64(x)) {
			return s.stream.Err()
		}
		return nil
	}
	numbers, err := s.stream.Take(int(x), m)
	if err != nil {
		return err
	}
	if f.change != nil {
		return f.change(&s.state, s.value, numbers, account{m, &s.booked})
	}
	return f.list(s.value, numbers, account{m, &s.booked})
}

// skip skips the values of n calls. Streams are independent, so each is skipped separately.
func (v *variableCall) skip(n uint64, m *codec.Budget) error {
	of := map[*codec.ValueStream][]*slot{}
	var streams []*codec.ValueStream
	for i := range v.slots[:v.streams] {
		s := &v.slots[i]
		if of[s.stream] == nil {
			streams = append(streams, s.stream)
		}
		of[s.stream] = append(of[s.stream], s)
	}
	for _, stream := range streams {
		if err := skipCalls(stream, of[stream], n, m); err != nil {
			return err
		}
	}
	return nil
}

// skipCalls skips what n calls consume of a stream: numbers all at once, lists call by call.
func skipCalls(from *codec.ValueStream, slots []*slot, n uint64, m *codec.Budget) error {
	if !slices.ContainsFunc(slots, func(s *slot) bool { return s.fill.number == nil }) {
		for range slots {
			if !from.Skip(n) {
				return from.Err()
			}
		}
		return nil
	}
	for range n {
		for _, s := range slots {
			if err := s.take(m, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// Stream finds the sequence of a stream of a signature on this thread.
func (t *Thread) Stream(terminal, number int32) (StreamRef, bool) {
	want := StreamRef{Terminal: terminal, Number: number}
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
