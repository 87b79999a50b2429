package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// The encoding of a signature, used as its key and, with strings replaced by references to a
// table, in the file (docs/format-sections.md, "Signatures"):
//
//	function + 65536 where the time before it was not traced + 131072 where the program ignores
//	the statuses + 262144 where the recorder generalized, site (varints),
//	own rank (zigzag varint), return value,
//	number of In values and the values, number of Out values and the values, communicator
//
// A value is one byte, the form in its low four bits and a small number x in its high ones, then,
// if x is 15, a varint of x − 15. x is the zigzag form of Int, the length of Text, or the number of
// elements of List; Float is always followed by its eight bytes. Fields that a form does not use
// are not encoded: equal signatures have equal bytes because no form has two encodings. After x, a
// Pointer with a segment (x > 0) has its offset as a zigzag varint.

const (
	formBits   = 4
	formMask   = 1<<formBits - 1
	smallLimit = 15 // small numbers up to 14 fit into the byte of the form

	// maxValueDepth bounds the depth of nested lists. A list of statuses has depth 2.
	maxValueDepth = 8

	// untracedBit is added to the function of a signature that is Untraced.
	untracedBit = 1 << 16
	// statusIgnoredBit is added to the function of a signature with StatusIgnored.
	statusIgnoredBit = 1 << 17
	// generalizedBit is added to the function of a signature that is Generalized.
	generalizedBit = 1 << 18
	// operatorSequence is, in the place of an Operator, a list of integers as a sequence.
	operatorSequence = 7
)

// valueBytes is the size of a value in memory.
const valueBytes = int64(unsafe.Sizeof(Value{}))

var errSignature = errors.New("trace: damaged signature")

// AppendSignature appends the canonical encoding of s: two signatures are equal if and only if
// their encodings are.
func AppendSignature(b []byte, s *Signature) []byte {
	return appendSignature(b, s, nil)
}

// A valueStyle is how the values of a section are written. Those of keys have none.
type valueStyle struct {
	strings   *codec.StringTable // strings are indices into it
	sequences bool               // long lists of integers may be sequences
	used      bool               // one is
}

// appendSignature writes strings in full if style is nil.
func appendSignature(b []byte, s *Signature, style *valueStyle) []byte {
	function := uint64(s.Function)
	if s.Untraced {
		function |= untracedBit
	}
	if s.StatusIgnored {
		function |= statusIgnoredBit
	}
	if s.Generalized {
		function |= generalizedBit
	}
	b = binary.AppendUvarint(b, function)
	b = binary.AppendUvarint(b, uint64(s.Site))
	b = binary.AppendVarint(b, int64(s.OwnRank))
	b = appendValue(b, &s.Return, style)
	b = binary.AppendUvarint(b, uint64(len(s.In)))
	for i := range s.In {
		b = appendValue(b, &s.In[i], style)
	}
	b = binary.AppendUvarint(b, uint64(len(s.Out)))
	for i := range s.Out {
		b = appendValue(b, &s.Out[i], style)
	}
	return appendValue(b, &s.Communicator, style)
}

func appendValue(b []byte, v *Value, style *valueStyle) []byte {
	switch v.Form {
	case Absent, Null:
		return append(b, byte(v.Form))
	case Pointer:
		b = appendSmall(b, v.Form, uint64(v.Int))
		if v.Int > 0 {
			b = binary.AppendVarint(b, v.Offset)
		}
		return b
	case Int, Handle, Stream, ListStream, RankOffset, Code, Column:
		return appendSmall(b, v.Form, codec.Zigzag(v.Int))
	case Elastic:
		b = appendSmall(b, v.Form, uint64(v.Int))
		b = binary.AppendUvarint(b, uint64(len(v.List)))
		for i := range v.List {
			b = appendValue(b, &v.List[i], style)
		}
		return b
	case Float:
		return binary.LittleEndian.AppendUint64(append(b, byte(v.Form)), uint64(v.Int))
	case Text, Name:
		if style != nil {
			return appendSmall(b, v.Form, uint64(style.strings.Index(v.Text)))
		}
		return append(appendSmall(b, v.Form, uint64(len(v.Text))), v.Text...)
	case List, Status:
		start := len(b)
		b = appendSmall(b, v.Form, uint64(len(v.List)))
		for i := range v.List {
			b = appendValue(b, &v.List[i], style)
		}
		if style == nil || !style.sequences || v.Form != List {
			return b
		}
		if sequence := sequenceOf(v.List); sequence != nil && len(sequence) < len(b)-start {
			style.used = true
			return append(b[:start], sequence...)
		}
		return b
	}
	panic(fmt.Sprintf("trace: value of unknown form %d", v.Form))
}

// shortestSequence is the number of integers from which on a list may be written as a sequence.
// Shorter lists gain little, and files without long ones stay version 3, which more readers know.
const shortestSequence = 256

// sequenceOf is a long list of integers as a sequence. It is nil for other lists.
func sequenceOf(list []Value) []byte {
	if len(list) < shortestSequence || slices.ContainsFunc(list, func(v Value) bool { return v.Form != Int }) {
		return nil
	}
	values := make([]int64, len(list))
	for i := range list {
		values[i] = list[i].Int
	}
	return codec.AppendSequence([]byte{byte(Elastic) | operatorSequence<<formBits}, values)
}

// integers reads a list that is a sequence.
func (d *decoder) integers() []Value {
	values := d.Sequence()
	if !d.Budget.Take(int64(len(values)) * valueBytes) {
		d.Fail(codec.ErrMemory)
		return nil
	}
	list := make([]Value, len(values))
	for i, x := range values {
		list[i] = Value{Form: Int, Int: x}
	}
	return list
}

func appendSmall(b []byte, form Form, x uint64) []byte {
	if x < smallLimit {
		return append(b, byte(form)|byte(x)<<formBits)
	}
	return binary.AppendUvarint(append(b, byte(form)|smallLimit<<formBits), x-smallLimit)
}

func (d *decoder) signature() Signature {
	var s Signature
	function := d.UvarintUpTo(generalizedBit | statusIgnoredBit | untracedBit | math.MaxUint16)
	s.Function, s.Untraced, s.StatusIgnored = uint16(function), function&untracedBit != 0, function&statusIgnoredBit != 0
	s.Generalized = function&generalizedBit != 0
	s.Site = uint32(d.UvarintUpTo(math.MaxUint32))
	s.OwnRank = d.Int32()
	s.Return = d.value(0)
	s.In = d.values(d.Uvarint(), 0)
	s.Out = d.values(d.Uvarint(), 0)
	s.Communicator = d.value(0)
	return s
}

func (d *decoder) values(n uint64, depth int) []Value {
	if n == 0 || d.Err != nil {
		return nil
	}
	if n > uint64(len(d.Rest)) { // a value takes at least one byte
		d.Fail(errSignature)
		return nil
	}
	if !d.Budget.Take(int64(n) * valueBytes) {
		d.Fail(codec.ErrMemory)
		return nil
	}
	values := make([]Value, n)
	for i := range values {
		values[i] = d.value(depth)
	}
	return values
}

func (d *decoder) value(depth int) Value {
	head := d.Byte()
	v := Value{Form: Form(head & formMask)}
	x := uint64(head >> formBits)
	if x == smallLimit {
		x = d.Uvarint()
		if x > math.MaxUint64-smallLimit {
			d.Fail(errSignature)
		}
		x += smallLimit
	}
	switch v.Form {
	case Pointer:
		if x > math.MaxInt32 {
			d.Fail(errSignature)
		}
		if v.Int = int64(x); x > 0 {
			v.Offset = d.Varint()
		}
	case Absent, Null, Float:
		if x != 0 {
			d.Fail(errSignature)
		}
		if v.Form == Float {
			v.Int = int64(d.Uint64())
		}
	case Int, Handle, Stream, ListStream, RankOffset, Code, Column:
		v.Int = codec.Unzigzag(x)
	case Elastic:
		if d.sequences && x == operatorSequence {
			return Value{Form: List, List: d.integers()}
		}
		if v.Int = int64(x); v.Int < 0 || depth == maxValueDepth {
			d.Fail(errSignature)
			return v
		}
		v.List = d.values(d.Uvarint(), depth+1)
	case Text, Name:
		if d.Strings != nil {
			if x >= uint64(len(d.Strings)) {
				d.Fail(errSignature)
				return v
			}
			v.Text = d.Strings[x]
		} else {
			v.Text = string(d.Bytes(x))
		}
	case List, Status:
		if depth == maxValueDepth {
			d.Fail(errSignature)
			return v
		}
		v.List = d.values(x, depth+1)
	default:
		d.Fail(errSignature)
	}
	return v
}

// The section of signatures. Requests and statuses are most of the signatures of a program with
// many neighbors, and both are predictable: the next request that is created has the next number,
// and a status has what the call that created the request asked for. So requests are differences,
// and a status that is as expected has no fields.

// appendSignatures returns the section and the version of the format that it needs: ListsVersion if
// sequences are allowed and make some list shorter, else FormatVersion.
func appendSignatures(signatures []Signature, functions []Function, sequences bool) (section []byte, version byte) {
	s := newSection()
	style := &valueStyle{strings: s.Strings, sequences: sequences}
	s.Number(uint64(len(signatures)))
	w := newSignatureWalk(functions)
	for i := range signatures {
		signature := w.shortened(signatures[i])
		s.Body = appendSignature(s.Body, &signature, style)
	}
	if style.used {
		return s.Bytes(), ListsVersion
	}
	return s.Bytes(), FormatVersion
}

func (d *decoder) signatures(functions []Function, sequences bool) []Signature {
	d.sequences = sequences
	n := d.Length(176)
	if n == 0 {
		return nil
	}
	w := newSignatureWalk(functions)
	signatures := make([]Signature, n)
	for i := range signatures {
		signatures[i] = d.signature()
		if d.Err == nil && !w.complete(&signatures[i]) {
			d.Fail(errSignature)
		}
	}
	of := map[uint16]*Function{}
	for i := range functions {
		of[functions[i].ID] = &functions[i]
	}
	for i := range signatures {
		if f := of[signatures[i].Function]; f != nil {
			f.normalize(&signatures[i])
		}
	}
	return signatures
}

// Requests returns the values of s whose parameters are requests, or arrays of them, parameter by
// parameter: before the call, then after it.
func (f *Function) Requests(s *Signature) []*Value { return f.valuesOf(s, requestKind) }

// valuesOf returns the values of the parameters of a kind.
func (f *Function) valuesOf(s *Signature, kind string) []*Value {
	var values []*Value
	in, out := 0, 0
	for i := range f.Parameters {
		p := &f.Parameters[i]
		if p.Direction != Out {
			if p.Kind == kind && in < len(s.In) {
				values = append(values, &s.In[in])
			}
			in++
		}
		if p.Direction != In {
			if p.Kind == kind && out < len(s.Out) {
				values = append(values, &s.Out[out])
			}
			out++
		}
	}
	return values
}

// A signatureWalk goes through the signatures of a section in order, and keeps the expectation of
// each request.
type signatureWalk struct {
	functions map[uint16]*Function // those that have requests
	receives  map[uint16]bool      // of these, those that receive
	last      int64                // the previous request
	expected  map[int64]*expectation
	sizes     map[string]int64 // bytes of an element, by datatype, according to earlier statuses
}

// An expectation predicts the status of a request.
type expectation struct {
	status      *Value // its previous status
	source, tag Value  // without one: the arguments of the call that created it
	count       int64
	datatype    string // "": nothing is expected
}

func newSignatureWalk(functions []Function) signatureWalk {
	w := signatureWalk{
		functions: map[uint16]*Function{}, receives: map[uint16]bool{}, expected: map[int64]*expectation{}, sizes: map[string]int64{},
	}
	for i := range functions {
		f := &functions[i]
		if slices.ContainsFunc(f.Parameters, func(p Parameter) bool { return p.Kind == requestKind }) {
			w.functions[f.ID], w.receives[f.ID] = f, f.Semantics().Receives()
		}
	}
	return w
}

// shortened returns a signature in the form of the section. It shares unchanged values with s.
func (w *signatureWalk) shortened(s Signature) Signature {
	f := w.functions[s.Function]
	if f == nil {
		return s
	}
	s.In, s.Out = slices.Clone(s.In), slices.Clone(s.Out)
	w.made(f, &s)
	w.statuses(f, &s, func(e *expectation, status *Value) bool {
		full := *status
		if want, ok := w.status(e); ok && equalStatus(&want, &full) {
			*status = Value{Form: Status}
		}
		w.learn(e, full)
		return true
	})
	for _, v := range f.Requests(&s) {
		*v = mapHandles(*v, func(x int64) int64 {
			by := x - w.last
			w.last = x
			return by
		})
	}
	return s
}

// complete is the inverse of shortened, in place; false if the signature is damaged.
func (w *signatureWalk) complete(s *Signature) bool {
	f := w.functions[s.Function]
	if f == nil {
		return true
	}
	for _, v := range f.Requests(s) {
		*v = mapHandles(*v, func(by int64) int64 {
			w.last += by
			return w.last
		})
	}
	w.made(f, s)
	return w.statuses(f, s, func(e *expectation, status *Value) bool {
		if len(status.List) == 0 {
			want, ok := w.status(e)
			if !ok {
				return false
			}
			*status = want
		}
		w.learn(e, *status)
		return true
	})
}

// mapHandles changes the handles of a value.
func mapHandles(v Value, f func(int64) int64) Value {
	switch v.Form {
	case Handle:
		v.Int = f(v.Int)
	case List:
		v.List = slices.Clone(v.List)
		for i := range v.List {
			v.List[i] = mapHandles(v.List[i], f)
		}
	}
	return v
}

// made records the expectation from a call that creates a request.
func (w *signatureWalk) made(f *Function, s *Signature) {
	if len(f.valuesOf(s, "status")) > 0 {
		return
	}
	requests := f.Requests(s)
	source, tag, count, datatype := f.valuesOf(s, "rank"), f.valuesOf(s, "tag"), f.valuesOf(s, "count"), f.valuesOf(s, "datatype")
	if len(requests) != 1 || requests[0].Form != Handle || min(len(source), len(tag), len(count), len(datatype)) == 0 {
		return
	}
	e := &expectation{source: *source[0], tag: *tag[0], datatype: string(appendValue(nil, datatype[0], nil))}
	if count[0].Form == Int {
		e.count = count[0].Int
	}
	if !w.receives[f.ID] {
		e.source = Value{Form: RankOffset}
	}
	w.expected[requests[0].Int] = e
}

// statuses pairs the requests before a call with their statuses after it: one of each, or two
// arrays of equal length. It stops when each returns false, and returns that.
func (w *signatureWalk) statuses(f *Function, s *Signature, each func(e *expectation, status *Value) bool) bool {
	requests, statuses := f.Requests(s), f.valuesOf(s, "status")
	if len(requests) == 0 || len(statuses) == 0 {
		return true
	}
	request, status := requests[0], statuses[0]
	if status.Form == Status {
		return each(w.expectation(request), status)
	}
	if request.Form != List || status.Form != List || len(request.List) != len(status.List) {
		return true
	}
	status.List = slices.Clone(status.List)
	for i := range status.List {
		if status.List[i].Form == Status && !each(w.expectation(&request.List[i]), &status.List[i]) {
			return false
		}
	}
	return true
}

// expectation returns the one of a request. All values that are not handles share one.
func (w *signatureWalk) expectation(request *Value) *expectation {
	number := int64(math.MinInt64)
	if request.Form == Handle {
		number = request.Int
	}
	e := w.expected[number]
	if e == nil {
		e = &expectation{}
		w.expected[number] = e
	}
	return e
}

// status returns the predicted status.
func (w *signatureWalk) status(e *expectation) (Value, bool) {
	if e.status != nil {
		return *e.status, true
	}
	size, known := w.sizes[e.datatype]
	if !known {
		return Value{}, false
	}
	return Value{Form: Status, List: []Value{e.source, e.tag, {Form: Int}, {Form: Int}, {Form: Int, Int: e.count * size}}}, true
}

// learn records an actual status.
func (w *signatureWalk) learn(e *expectation, status Value) {
	e.status = &status
	if e.count > 0 && len(status.List) == 5 && status.List[4].Form == Int && status.List[4].Int%e.count == 0 {
		w.sizes[e.datatype] = status.List[4].Int / e.count
	}
}

func equalStatus(a, b *Value) bool {
	return string(appendValue(nil, a, nil)) == string(appendValue(nil, b, nil))
}
