package merger

import (
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// A template is a signature without the values that may differ from rank to rank within a shape:
// the numbers (and special names such as MPI_PROC_NULL) of its arguments and results, the caller's
// rank, and streams that are constant on a thread. Slots are numbered in the order of a walk
// through the values.
type template struct {
	signature trace.Signature // numbers are 0, streams are kept, the own rank is −1
	slots     int
	paths     []int32 // of each slot, then of each stream below: its parameter (visitor.path)
	streams   []int32 // numbers of the streams that a constant may replace, in order of first use
	others    []int32 // numbers of all other streams: lists, floating-point numbers, communicators
	onHandle  bool    // the communicator of the call is one that the program created
	hasComm   bool
}

// longestList is the largest number of elements of a list that may be slots. In longer lists only
// streams are.
const longestList = 256

// fields is one more than the number of fields of a status.
const fields = 6

// isSlot reports whether values of a kind may differ from rank to rank within a shape: those of
// handles and of memory may not.
func isSlot(kind string) bool {
	return !trace.IsHandle(kind) && kind != "buffer" && kind != "pointer" && kind != "function"
}

// A visitor sees the values of a signature in a fixed order and may replace them.
type visitor struct {
	slot   func(v trace.Value) trace.Value                                      // a number that may differ
	stream func(v trace.Value, number int32, constant *trace.Value) trace.Value // nil: streams stay
	other  func(number int32)                                                   // a stream that no constant may replace
	// request, if not nil, sees a request or a list of them
	request func(v trace.Value) trace.Value
	// path identifies the parameter of the value: 0 for the result, then a number for each
	// parameter before and after the call, and for each field of a status. The elements of an array
	// have the same one.
	path int32
	// lists is the memory of the copied lists
	lists arena
}

// visit walks through the slots and the streams of a signature, including those that are constant
// in a shard. It copies what it changes.
func visit(s trace.Signature, f *trace.Function, to *visitor) trace.Signature {
	to.path = 0
	s.Return = to.value(s.Return, f.Return)
	s.In, s.Out = to.lists.clone(s.In), to.lists.clone(s.Out)
	in, out := 0, 0
	for i := range f.Parameters {
		p := &f.Parameters[i]
		to.path += fields
		if p.Direction != trace.Out {
			if in < len(s.In) {
				s.In[in] = to.value(s.In[in], p.Kind)
			}
			in++
		}
	}
	for i := range f.Parameters {
		p := &f.Parameters[i]
		to.path += fields
		if p.Direction != trace.In {
			if out < len(s.Out) {
				s.Out[out] = to.value(s.Out[out], p.Kind)
			}
			out++
		}
	}
	return s
}

func (to *visitor) value(v trace.Value, kind string) trace.Value {
	if to.request != nil && kind == "request" && isRequest(v) {
		return to.request(v)
	}
	switch v.Form {
	case trace.Int, trace.Name, trace.Column:
		if isSlot(kind) && (v.Form != trace.Int || codeFits(v.Int)) {
			return to.slot(v)
		}
	case trace.Elastic:
		if trace.Operator(v.Int) == trace.Constant && len(v.List) == 2 {
			return to.streamed(trace.Value{Form: trace.Stream, Int: v.List[0].Int}, kind, &v.List[1])
		}
		return to.slot(v)
	case trace.Stream:
		if kind != "double" && (isSlot(kind) || kind == "request") {
			return to.streamed(v, kind, nil)
		}
		to.otherStream(v)
	case trace.ListStream:
		to.otherStream(v)
	case trace.List, trace.Status:
		if v.Form == trace.Status {
			kind = ""
		}
		if len(v.List) > longestList {
			to.streamsIn(v.List)
			break
		}
		v.List = to.lists.clone(v.List)
		at := to.path
		for i := range v.List {
			if v.Form == trace.Status {
				to.path = at + 1 + int32(min(i, fields-2))
			}
			v.List[i] = to.value(v.List[i], kind)
		}
		to.path = at
	}
	return v
}

// streamed visits a stream of a parameter of a kind. A number that replaces it is
// what it stands for.
func (to *visitor) streamed(v trace.Value, kind string, constant *trace.Value) trace.Value {
	if to.stream == nil {
		return v
	}
	if v = to.stream(v, int32(v.Int), constant); v.Form == trace.Int {
		return trace.ValueOf(kind, v.Int)
	}
	return v
}

// streamsIn visits the streams of a list that is not changed otherwise.
func (to *visitor) streamsIn(list []trace.Value) {
	for _, v := range list {
		switch v.Form {
		case trace.Stream, trace.ListStream:
			to.otherStream(v)
		case trace.List, trace.Status:
			to.streamsIn(v.List)
		}
	}
}

// isRequest reports whether v is a request, or a list of requests.
func isRequest(v trace.Value) bool {
	switch v.Form {
	case trace.Handle:
		return v.Int >= 0
	case trace.Name:
		return v.Text == "MPI_REQUEST_NULL"
	case trace.List:
		return !slices.ContainsFunc(v.List, func(e trace.Value) bool { return e.Form == trace.List || !isRequest(e) })
	}
	return false
}

func (to *visitor) otherStream(v trace.Value) {
	if to.other != nil {
		to.other(int32(v.Int))
	}
}

// templateOf splits a signature into its template and the values of slots and streams (nil for a
// stream that varies).
func templateOf(s trace.Signature, f *trace.Function) (t template, slots []trace.Value, constants []*trace.Value) {
	seen := map[int32]bool{}
	var streamPaths []int32
	to := &visitor{}
	to.slot = func(v trace.Value) trace.Value {
		slots = append(slots, v)
		t.paths = append(t.paths, to.path)
		return trace.Value{Form: trace.Int}
	}
	to.stream = func(v trace.Value, number int32, constant *trace.Value) trace.Value {
		if !seen[number] {
			seen[number] = true
			t.streams = append(t.streams, number)
			streamPaths = append(streamPaths, to.path)
			constants = append(constants, constant)
		}
		return v
	}
	to.other = func(number int32) { t.others = append(t.others, number) }
	t.signature = visit(s, f, to)
	t.paths = append(t.paths, streamPaths...)
	if s.Communicator.Form == trace.Stream {
		t.others = append(t.others, int32(s.Communicator.Int))
	}
	slices.Sort(t.others)
	t.others = slices.Compact(t.others)
	t.others = slices.DeleteFunc(t.others, func(n int32) bool { return slices.Contains(t.streams, n) })
	t.signature.OwnRank = -1
	t.slots = len(slots)
	in := 0
	for i := range f.Parameters {
		p := &f.Parameters[i]
		if p.Direction == trace.Out {
			continue
		}
		if p.Kind == "comm" && !p.List && in < len(s.In) && !t.hasComm {
			t.hasComm = true
			t.onHandle = s.In[in].Form != trace.Name
		}
		in++
	}
	return t, slots, constants
}

// width is the number of columns of a template: the own rank, its slots, its streams of both kinds.
func (t *template) width() int { return 1 + t.slots + len(t.streams) + len(t.others) }

// with fills the template: with a value for each slot, and for each stream a value that replaces
// it, or the stream itself.
func (t *template) with(f *trace.Function, slots, streams []trace.Value) trace.Signature {
	next := 0
	return visit(t.signature, f, &visitor{
		slot: func(trace.Value) trace.Value {
			next++
			return slots[next-1]
		},
		stream: func(_ trace.Value, number int32, _ *trace.Value) trace.Value {
			return streams[slices.Index(t.streams, number)]
		},
	})
}
