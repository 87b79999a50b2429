package trace

import "slices"

// Requests gives the values of s whose parameters are requests, or arrays of them: before the call, then after it,
// parameter by parameter. The file has the numbers of requests as differences (docs/format.md, "Signatures").
func (f *Function) Requests(s *Signature) []*Value {
	var values []*Value
	in, out := 0, 0
	for i := range f.Parameters {
		p := &f.Parameters[i]
		if p.Direction != Out {
			if p.Kind == requestKind && in < len(s.In) {
				values = append(values, &s.In[in])
			}
			in++
		}
		if p.Direction != In {
			if p.Kind == requestKind && out < len(s.Out) {
				values = append(values, &s.Out[out])
			}
			out++
		}
	}
	return values
}

// A requestWalk goes through all requests of a table of signatures, one after the other.
type requestWalk struct {
	functions map[uint16]*Function
	number    func(x int64) int64 // what becomes of a number
}

func newRequestWalk(functions []Function) requestWalk {
	w := requestWalk{functions: map[uint16]*Function{}}
	for i := range functions {
		f := &functions[i]
		if slices.ContainsFunc(f.Parameters, func(p Parameter) bool { return p.Kind == requestKind }) {
			w.functions[f.ID] = f
		}
	}
	return w
}

// differences makes of each number what it differs by from the one before.
func (w *requestWalk) differences() {
	last := int64(0)
	w.number = func(x int64) int64 {
		by := x - last
		last = x
		return by
	}
}

// sums takes differences back.
func (w *requestWalk) sums() {
	last := int64(0)
	w.number = func(by int64) int64 {
		last += by
		return last
	}
}

// signature is s with other numbers; it shares with s what has none.
func (w *requestWalk) signature(s Signature) Signature {
	f := w.functions[s.Function]
	if f == nil {
		return s
	}
	s.In, s.Out = slices.Clone(s.In), slices.Clone(s.Out)
	for _, v := range f.Requests(&s) {
		*v = w.value(*v)
	}
	return s
}

func (w *requestWalk) value(v Value) Value {
	switch v.Form {
	case Handle:
		v.Int = w.number(v.Int)
	case List:
		v.List = slices.Clone(v.List)
		for i := range v.List {
			v.List[i] = w.value(v.List[i])
		}
	}
	return v
}
