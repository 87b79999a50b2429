package merger

import (
	"cmp"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// Parameters that vary from call to call — a size that depends on the
// iteration, the requests that are still open in a loop of Waitany — would give
// a thread a signature for every value, and a grammar that finds nothing in
// them. Where more than mostAlike signatures of a thread differ only in
// numbers and in requests, what differs goes to value streams, and the grammar
// is made anew (ScalaTrace II's value vectors, ICS '13, §3.1).
//
// The choice sees the thread's calls only: not what other ranks did, nor what
// was merged before. Done again it changes nothing.

// mostAlike is the number of signatures that a thread may have of one family.
const mostAlike = 32

// A family is what signatures have in common that differ only in numbers and requests.
type family struct {
	members []int32
}

// separate returns c with what varies on a thread in streams; c itself if there is nothing to do.
func separate(c *trace.Content) *trace.Content {
	if len(c.Signatures) <= mostAlike {
		return c
	}
	functions := map[uint16]*trace.Function{}
	for i := range c.Functions {
		functions[c.Functions[i].ID] = &c.Functions[i]
	}
	families := map[string]*family{}
	of := make([]*family, len(c.Signatures))
	large := false
	for i := range c.Signatures {
		key := familyKey(c.Signatures[i], functions[c.Signatures[i].Function])
		f := families[key]
		if f == nil {
			f = &family{}
			families[key] = f
		}
		f.members = append(f.members, int32(i))
		of[i] = f
		large = large || len(f.members) > mostAlike
	}
	if !large {
		return c
	}
	out := *c
	out.Threads = trace.ThreadTable{}
	out.Signatures = slices.Clone(c.Signatures)
	out.Sequences = slices.Clone(c.Sequences)
	out.Grammar.Rules = slices.Clone(c.Grammar.Rules)
	regular := map[int]bool{} // roots with nothing to do: threads of a shard share them
	for _, t := range c.Threads.All() {
		if root := t.Root; !regular[root] {
			s := separation{c: &out, thread: &t, functions: functions}
			s.run(of)
			regular[root] = t.Root == root
		}
		out.Threads.Append(t)
	}
	return &out
}

func familyKey(s trace.Signature, f *trace.Function) string {
	s = visit(s, f, visitor{
		slot: func(v trace.Value) trace.Value {
			if v.Form == trace.Int {
				v.Int = 0
			}
			return v
		},
		stream:  func(v trace.Value, _ int32, _ *trace.Value) trace.Value { return v },
		request: func(trace.Value) trace.Value { return trace.Value{} },
	})
	return string(trace.AppendSignature(nil, &s))
}

// A separation works on one thread.
type separation struct {
	c         *trace.Content
	thread    *trace.Thread
	functions map[uint16]*trace.Function
	streams   map[int32][]trace.StreamRef // the thread's, by terminal
	changed   map[int32]*changed          // by old terminal
	made      map[int32]map[int32][]int64
}

// changed is what becomes of a signature.
type changed struct {
	terminal int32
	kept     []*source // its own streams
	add      []added   // what it gives to new ones
	requests map[int32]*requestList
}

// A source is what is left of a stream.
type source struct {
	number int32
	list   bool
	values []int64
}

// added is a value that goes to a new stream in each call.
type added struct {
	number int32
	value  trace.Value
}

func (s *separation) run(of []*family) {
	local := localize(s.c.Grammar, s.thread.Root)
	used := map[*family][]int32{}
	var order []*family
	for _, terminal := range local.terminals {
		f := of[terminal]
		if used[f] == nil {
			order = append(order, f)
		}
		used[f] = append(used[f], terminal)
	}
	for _, f := range order {
		if members := used[f]; len(members) > mostAlike {
			s.replace(members)
		}
	}
	if len(s.changed) > 0 {
		s.rewrite()
	}
}

// replace makes one signature of several.
func (s *separation) replace(members []int32) {
	if s.changed == nil {
		s.changed, s.made = map[int32]*changed{}, map[int32]map[int32][]int64{}
		s.streams = map[int32][]trace.StreamRef{}
		for _, ref := range s.thread.Streams {
			s.streams[ref.Terminal] = append(s.streams[ref.Terminal], ref)
		}
	}
	f := s.functions[s.c.Signatures[members[0]].Function]
	values := make([][]trace.Value, len(members))
	for i, terminal := range members {
		values[i] = variables(s.c.Signatures[terminal], f)
	}
	differs := make([]bool, len(values[0]))
	for _, mine := range values {
		for k := range mine {
			differs[k] = differs[k] || !equalValues(mine[k], values[0][k])
		}
	}
	first := nextStream(s.c.Signatures[members[0]])
	numbers := make([]int32, len(differs))
	next := first
	for k := range differs {
		if differs[k] {
			numbers[k] = next
			next++
		}
	}
	at := 0
	put := func(v trace.Value, form trace.Form) trace.Value {
		at++
		if differs[at-1] {
			return trace.Value{Form: form, Int: int64(numbers[at-1])}
		}
		return v
	}
	signature := visit(s.c.Signatures[members[0]], f, visitor{
		slot: func(v trace.Value) trace.Value {
			if v.Form != trace.Int {
				return v
			}
			return put(v, trace.Stream)
		},
		stream: func(v trace.Value, _ int32, _ *trace.Value) trace.Value { return v },
		request: func(v trace.Value) trace.Value {
			if v.Form == trace.List {
				return put(v, trace.ListStream)
			}
			return put(v, trace.Stream)
		},
	})
	terminal := int32(len(s.c.Signatures))
	s.c.Signatures = append(s.c.Signatures, signature)
	s.made[terminal] = map[int32][]int64{}
	requests := map[int32]*requestList{}
	for i, old := range members {
		ch := &changed{terminal: terminal, requests: requests}
		for k, v := range values[i] {
			if differs[k] {
				ch.add = append(ch.add, added{numbers[k], v})
			}
		}
		lists := listStreams(&s.c.Signatures[old])
		for _, ref := range s.streams[old] {
			ch.kept = append(ch.kept, &source{ref.Number, lists[ref.Number], s.c.Sequences[ref.Sequence]})
		}
		s.changed[old] = ch
	}
}

// variables are the values of a signature that may become streams, in order.
func variables(s trace.Signature, f *trace.Function) []trace.Value {
	var values []trace.Value
	visit(s, f, visitor{
		slot: func(v trace.Value) trace.Value {
			if v.Form == trace.Int {
				values = append(values, v)
			}
			return v
		},
		stream: func(v trace.Value, _ int32, _ *trace.Value) trace.Value { return v },
		request: func(v trace.Value) trace.Value {
			values = append(values, v)
			return v
		},
	})
	return values
}

func equalValues(a, b trace.Value) bool {
	return a.Form == b.Form && a.Int == b.Int && a.Text == b.Text && slices.EqualFunc(a.List, b.List, equalValues)
}

// nextStream is a number greater than those of a signature's streams.
func nextStream(s trace.Signature) int32 {
	next := int32(0)
	var walk func(values []trace.Value)
	walk = func(values []trace.Value) {
		for i := range values {
			if f := values[i].Form; f == trace.Stream || f == trace.ListStream {
				next = max(next, int32(values[i].Int)+1)
			}
			walk(values[i].List)
		}
	}
	walk(s.In)
	walk(s.Out)
	walk([]trace.Value{s.Return, s.Communicator})
	return next
}

// listStreams tells which streams of a signature are lists.
func listStreams(s *trace.Signature) map[int32]bool {
	lists := map[int32]bool{}
	var walk func(values []trace.Value)
	walk = func(values []trace.Value) {
		for i := range values {
			if values[i].Form == trace.ListStream {
				lists[int32(values[i].Int)] = true
			}
			walk(values[i].List)
		}
	}
	walk(s.In)
	walk(s.Out)
	return lists
}

// rewrite makes the grammar and the streams of the thread anew.
func (s *separation) rewrite() {
	grammar := trace.NewSequitur()
	for terminal := range s.c.Grammar.All(s.thread.Root) {
		if ch := s.changed[terminal]; ch != nil {
			s.call(ch)
			terminal = ch.terminal
		}
		grammar.Append(terminal)
	}
	s.thread.SignaturesJoined = true
	s.thread.Root = len(s.c.Grammar.Rules)
	for _, body := range grammar.Grammar().Rules {
		for i, symbol := range body {
			if symbol.IsRule() {
				body[i] = trace.RuleSymbol(symbol.Rule()+s.thread.Root, symbol.Count)
			}
		}
		s.c.Grammar.Rules = append(s.c.Grammar.Rules, body)
	}
	var streams []trace.StreamRef
	for _, ref := range s.thread.Streams {
		if s.changed[ref.Terminal] == nil {
			streams = append(streams, ref)
		}
	}
	for terminal, numbers := range s.made {
		for number, values := range numbers {
			streams = append(streams, trace.StreamRef{Terminal: terminal, Number: number, Sequence: -1})
			_ = values
		}
	}
	slices.SortFunc(streams, compareStreams)
	for i := range streams {
		if ref := &streams[i]; ref.Sequence < 0 {
			ref.Sequence = int32(len(s.c.Sequences))
			s.c.Sequences = append(s.c.Sequences, s.made[ref.Terminal][ref.Number])
		}
	}
	s.thread.Streams = streams
}

// call moves the values of one call to the streams of the new signature.
func (s *separation) call(ch *changed) {
	out := s.made[ch.terminal]
	for _, from := range ch.kept {
		n := 1
		if from.list && len(from.values) > 0 && from.values[0] > 0 {
			n = 1 + int(min(from.values[0], math.MaxInt32))
		}
		n = min(n, len(from.values))
		out[from.number] = append(out[from.number], from.values[:n]...)
		from.values = from.values[n:]
	}
	for _, a := range ch.add {
		switch a.value.Form {
		case trace.List:
			list := ch.requests[a.number]
			if list == nil {
				list = &requestList{}
				ch.requests[a.number] = list
			}
			out[a.number] = list.append(out[a.number], a.value.List)
		default:
			out[a.number] = append(out[a.number], requestNumber(a.value))
		}
	}
}

// requestNumber is how a stream has a request, or another number.
func requestNumber(v trace.Value) int64 {
	if v.Form == trace.Name {
		return trace.NullRequest
	}
	return v.Int
}

// A requestList is the requests of the last call: a stream has what changed.
type requestList struct {
	before []int64
}

func (l *requestList) append(values []int64, list []trace.Value) []int64 {
	for len(l.before) < len(list) {
		l.before = append(l.before, trace.NullRequest)
	}
	values = append(values, 0, int64(len(list)))
	head := len(values) - 2
	for i, v := range list {
		if x := requestNumber(v); x != l.before[i] {
			values = append(values, int64(i), x)
			l.before[i] = x
		}
	}
	values[head] = int64(len(values) - head - 1)
	return values
}

func compareStreams(a, b trace.StreamRef) int {
	return cmp.Or(cmp.Compare(a.Terminal, b.Terminal), cmp.Compare(a.Number, b.Number))
}
