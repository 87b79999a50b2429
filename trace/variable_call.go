package trace

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// A variableCall is the state of a signature with streams or relative ranks on one thread: values that are made anew
// for every call, in memory that is used again.
type variableCall struct {
	in, out []Value
	result  Value
	slots   []slot
	settled bool         // r is the same in all calls
	created *valueStream // of Signature.Communicator
}

// A slot is a value that depends on the call.
type slot struct {
	value   *Value
	fill    filling
	elastic Value // as the signature has it
	add     bool  // r is to be added to the stream's value
	peer    bool  // it is a rank
	stream  *valueStream
	before  []Value // of a list of requests: the longest list so far, as the last call that had a position left it
}

// filling says how a slot gets its value.
type filling uint8

const (
	fillElastic  filling = iota // what follows from the thread and r
	fillInt                     // an integer
	fillFloat                   // the bits of a float64
	fillList                    // a list of integers
	fillFloats                  // a list of the bits of float64
	fillStatus                  // a list of no or five integers: the status, Absent for none
	fillStatuses                // a list of integers, five a status
	fillRequest                 // a request
	fillRequests                // a list of requests: what changed since the signature's last call
)

// variableCalls holds a thread's variableCall by terminal: in an array where there are few signatures.
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

var (
	errStreamEnds   = errors.New("a value stream ends too early")
	errStreamAbsent = errors.New("a value stream is missing")
	errStatusList   = errors.New("a list of statuses is no multiple of five numbers")
	errRequestList  = errors.New("a list of requests is damaged")
	errOwnRank      = errors.New("a peer is relative to a rank that is not known")
	errCommunicator = errors.New("a communicator is not in the rank's list")
)

// substitute fills in the values of the current call that its signature does not have.
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
	elastic := false
	for i := range v.slots {
		if v.slots[i].fill == fillElastic {
			elastic = true
			continue
		}
		elastic = elastic || v.slots[i].add
		if err := v.slots[i].next(c.source.memory()); err != nil {
			return c.fail(err)
		}
	}
	if p.comm >= 0 {
		b := c.communicator(&v.in[p.comm], c.ownRank(s))
		e.Comm, e.OwnRank = b.comm, b.ownRank
	}
	if elastic {
		if err := v.resolve(c.placeOf(p, e.OwnRank)); err != nil {
			return c.fail(err)
		}
	}
	e.Return = v.result
	if v.created == nil {
		return true
	}
	var err error
	if e.NewComm, err = c.instance(v); err != nil {
		return c.fail(err)
	}
	c.created(p, e)
	return true
}

// instance is the communicator that the next call of v makes.
func (c *Cursor) instance(v *variableCall) (int, error) {
	comm, ok := v.created.next()
	if !ok {
		return -1, v.created.err()
	}
	if comm < 0 || comm >= int64(len(c.rank.CommunicatorsOwn)) {
		return -1, errCommunicator
	}
	return int(c.rank.CommunicatorsOwn[comm]), nil
}

// newVariableCall copies the values of a signature and finds the slots among them and their streams. Values take from
// streams in the order: result, In, Out, communicator.
func (c *Cursor) newVariableCall(f *Function, s *Signature) (*variableCall, error) {
	v := &variableCall{in: cloneVarying(s.In), out: cloneVarying(s.Out), result: s.Return}
	v.result.List = cloneVarying(s.Return.List)
	if k := c.plans[c.event.Terminal].comm; k < 0 || s.In[k].Form == Name {
		v.settled = true
	}
	b := slotBuilder{cursor: c, call: v, streams: map[int64]*valueStream{}}
	b.add(&v.result, f.Return, false)
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
		v.created = b.stream(s.Communicator.Int)
	}
	if n := c.before[c.event.Terminal]; n > 0 && b.err == nil {
		b.err = v.skip(n)
	}
	return v, b.err
}

// placeOf is what the elastic values of the current call depend on; own is the caller's rank in its communicator.
func (c *Cursor) placeOf(p *callPlan, own int) *place {
	c.place.rank, c.place.known = int64(own), own >= 0
	if p.comm < 0 {
		c.place.rank, c.place.known = int64(c.thread.Rank), true
	}
	c.transpose(own)
	return &c.place
}

// resolve fills in what follows from the thread and its rank. Where that is the same in all calls it is done once.
func (v *variableCall) resolve(at *place) error {
	left := v.slots[:0]
	for i := range v.slots {
		s := &v.slots[i]
		switch {
		case s.fill == fillElastic:
			x, err := at.evaluate(s.elastic)
			if err != nil {
				return err
			}
			x.List = nil
			if s.peer && at.moved != 0 && x.Form == Int && at.writtenDown(s.elastic) {
				x.Int = floorMod(x.Int+at.moved, max(at.members, 1))
			}
			*s.value = x
		case s.add:
			if !at.known {
				return errOwnRank
			}
			s.value.Int += at.rank
		}
		if s.fill != fillElastic || !v.settled {
			left = append(left, *s)
		}
	}
	v.slots = left
	return nil
}

// A slotBuilder collects the slots of a variableCall. The first error stays.
type slotBuilder struct {
	cursor  *Cursor
	call    *variableCall
	streams map[int64]*valueStream
	err     error
}

func (b *slotBuilder) add(v *Value, kind string, list bool) {
	switch v.Form {
	case RankOffset, Column:
		b.call.slots = append(b.call.slots, slot{value: v, elastic: *v, peer: kind == rankKind})
	case Elastic:
		s := slot{value: v, elastic: *v, peer: kind == rankKind}
		if Operator(v.Int) == RelativeStream && len(v.List) == 1 {
			s.fill, s.add, s.stream = fillInt, true, b.stream(v.List[0].Int)
		}
		b.call.slots = append(b.call.slots, s)
	case Stream:
		fill := fillInt
		switch kind {
		case "double":
			fill = fillFloat
		case requestKind:
			fill = fillRequest
		}
		b.call.slots = append(b.call.slots, slot{value: v, fill: fill, stream: b.stream(v.Int)})
	case ListStream:
		fill := fillList
		switch {
		case kind == "double":
			fill = fillFloats
		case kind == requestKind:
			fill = fillRequests
		case kind == "status" && list:
			fill = fillStatuses
		case kind == "status":
			fill = fillStatus
		}
		b.call.slots = append(b.call.slots, slot{value: v, fill: fill, stream: b.stream(v.Int)})
	case Status:
		for i := range v.List {
			of := ""
			if i == 0 {
				of = rankKind // the source
			}
			b.add(&v.List[i], of, false)
		}
	case List:
		for i := range v.List {
			b.add(&v.List[i], kind, false)
		}
	}
}

// stream opens the signature's stream with this number, once.
func (b *slotBuilder) stream(number int64) *valueStream {
	if known := b.streams[number]; known != nil {
		return known
	}
	ref, ok := b.cursor.thread.Stream(b.cursor.event.Terminal, int32(number))
	if !ok || number < 0 || number > math.MaxInt32 {
		b.err = cmp.Or(b.err, errStreamAbsent) // once: there may be thousands
		return nil
	}
	stream, err := b.cursor.source.stream(int(ref.Sequence))
	if err != nil {
		b.err = errors.Join(b.err, err)
	}
	b.streams[number] = &stream
	return &stream
}

// cloneVarying copies the values of a signature that calls fill in, and shares what they do not.
func cloneVarying(values []Value) []Value {
	if !slices.ContainsFunc(values, func(v Value) bool { return v.varies() }) {
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

// varies tells whether a value of a signature, or one inside of it, is filled in for each call or thread.
func (v *Value) varies() bool {
	switch v.Form {
	case RankOffset, Column, Elastic, Stream, ListStream:
		return true
	case List, Status:
		return slices.ContainsFunc(v.List, func(v Value) bool { return v.varies() })
	}
	return false
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
func (s *slot) next(m *budget) error {
	x, ok := s.stream.next()
	if !ok {
		return s.stream.err()
	}
	switch s.fill {
	case fillInt:
		*s.value = Value{Form: Int, Int: x}
		return nil
	case fillFloat:
		*s.value = Value{Form: Float, Int: x}
		return nil
	case fillRequest:
		*s.value = request(x)
		return nil
	}
	list := s.value.List
	if x < 0 {
		*s.value = Value{Form: Null, List: list[:0]}
		return nil
	}
	if x > math.MaxInt32 {
		return errSequence
	}
	switch s.fill {
	case fillRequests:
		return s.requests(x, m)
	case fillStatuses:
		return s.statuses(int(x), m)
	case fillStatus:
		if x == 0 {
			*s.value = Value{Form: Absent, List: list[:0]}
			return nil
		}
		if x != int64(statusLen) {
			return errStatusList
		}
		return s.list(statusLen, Status, Int, m)
	case fillFloats:
		return s.list(int(x), List, Float, m)
	}
	return s.list(int(x), List, Int, m)
}

// NullRequest stands for MPI_REQUEST_NULL in streams of requests.
const NullRequest = -1

// Kinds of parameters that values are read by.
const (
	requestKind = "request"
	rankKind    = "rank"
)

// request is what a number in a stream of requests stands for.
func request(x int64) Value {
	if x < 0 {
		return Value{Form: Name, Text: "MPI_REQUEST_NULL"}
	}
	return Value{Form: Handle, Int: x}
}

// requests takes k values: the length of the list, then positions in it and the requests that are there now.
func (s *slot) requests(k int64, m *budget) error {
	take := func() (x int64, err error) {
		x, ok := s.stream.next()
		if !ok {
			err = s.stream.err()
		}
		return x, err
	}
	n, err := take()
	if err != nil {
		return err
	}
	if k%2 == 0 || n < 0 || n > math.MaxInt32 {
		return errRequestList
	}
	for len(s.before) < int(n) {
		if len(s.before) == cap(s.before) && !m.take(valueBytes*int64(max(len(s.before), 8))) {
			return errMemory
		}
		s.before = append(s.before, request(NullRequest))
	}
	for range k / 2 {
		at, err := take()
		if err != nil {
			return err
		}
		x, err := take()
		if err != nil {
			return err
		}
		if at < 0 || at >= n {
			return errRequestList
		}
		s.before[at] = request(x)
	}
	*s.value = Value{Form: List, List: s.before[:n]}
	return nil
}

const statusLen = len(statusFields)

// list takes n values.
func (s *slot) list(n int, form, element Form, m *budget) error {
	list, err := resize(s.value.List, n, m)
	if err != nil {
		return err
	}
	for i := range list {
		x, ok := s.stream.next()
		if !ok {
			return s.stream.err()
		}
		list[i] = Value{Form: element, Int: x}
	}
	*s.value = Value{Form: form, List: list}
	return nil
}

// statuses takes n values, five for each status.
func (s *slot) statuses(n int, m *budget) error {
	if n%statusLen != 0 {
		return errStatusList
	}
	list, err := resize(s.value.List, n/statusLen, m)
	if err != nil {
		return err
	}
	for i := range list {
		fields, err := resize(list[i].List, statusLen, m)
		if err != nil {
			return err
		}
		for j := range fields {
			x, ok := s.stream.next()
			if !ok {
				return s.stream.err()
			}
			fields[j] = Value{Form: Int, Int: x}
		}
		list[i] = Value{Form: Status, List: fields}
	}
	*s.value = Value{Form: List, List: list}
	return nil
}

// resize gives list n elements; what it needs beyond its capacity is booked.
func resize(list []Value, n int, m *budget) ([]Value, error) {
	if n <= cap(list) {
		return list[:n], nil
	}
	if !m.take(int64(n-cap(list)) * valueBytes) {
		return nil, errMemory
	}
	grown := make([]Value, n)
	copy(grown, list[:cap(list)])
	return grown, nil
}

// Stream finds the sequence of one stream of a signature on this thread.
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
