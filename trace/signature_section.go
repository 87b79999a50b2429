package trace

import (
	"math"
	"slices"
)

// The section of signatures. Requests and statuses are most of what the signatures of a program with many neighbors have,
// and both follow from what comes before: the next request that is made has the next number, and a status says what the
// call that made the request asked for. So requests are differences, and a status that is as expected has no fields.

func appendSignatures(signatures []Signature, functions []Function) []byte {
	s := newSection()
	s.Number(uint64(len(signatures)))
	w := newSignatureWalk(functions)
	for i := range signatures {
		signature := w.shortened(signatures[i])
		s.Body = appendSignature(s.Body, &signature, s.Strings)
	}
	return s.Bytes()
}

func (d *decoder) signatures(functions []Function) []Signature {
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
	return signatures
}

// Requests gives the values of s whose parameters are requests, or arrays of them, parameter by parameter: before the
// call, then after it.
func (f *Function) Requests(s *Signature) []*Value { return f.valuesOf(s, requestKind) }

// valuesOf are the values of the parameters of a kind.
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

// A signatureWalk goes through the signatures of a section in order. It knows of each request what is expected of it.
type signatureWalk struct {
	functions map[uint16]*Function // those that have requests
	receives  map[uint16]bool      // of these, those that receive
	last      int64                // the request before
	expected  map[int64]*expectation
	sizes     map[string]int64 // bytes of an element, by datatype, as statuses had them
}

// An expectation is what the status of a request will be.
type expectation struct {
	status      *Value // the one that it had last
	source, tag Value  // where there was none: what the call that made it said
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

// shortened is a signature as the section has it. It shares with s what it does not change.
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

// complete makes of a signature of the section what it stands for; false if it is damaged.
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

// made notes what a call that makes a request says of it.
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

// statuses pairs the requests before a call with their statuses after it, one of each or two arrays of equal length. It ends
// where each returns false, and returns that.
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

// expectation is that of a request; all that are no handles share one.
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

// status is what is expected.
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

// learn notes a status.
func (w *signatureWalk) learn(e *expectation, status Value) {
	e.status = &status
	if e.count > 0 && len(status.List) == 5 && status.List[4].Form == Int && status.List[4].Int%e.count == 0 {
		w.sizes[e.datatype] = status.List[4].Int / e.count
	}
}

func equalStatus(a, b *Value) bool {
	return string(appendValue(nil, a, nil)) == string(appendValue(nil, b, nil))
}
