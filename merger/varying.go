package merger

import (
	"cmp"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// Parameters that vary from call to call — a size that depends on the iteration, the open requests
// in a loop of Waitany — would give a thread a signature for every value, and a grammar without
// repetitions. If more than maxAlike signatures of a thread differ only in numbers and requests,
// these go to value streams, and the grammar is made anew (ScalaTrace II's value vectors, ICS '13,
// §3.1).
//
// The choice depends only on the thread's own calls, not on other ranks or on the order of merges.
// Repeating it changes nothing. In a shard whose ranks were not separated yet (Merger.Unfinished)
// it depends on the values of each thread: a shard has the values of all its ranks in one
// signature, and streams that are constant on a thread as constants.

// maxAlike is the number of signatures that a thread may have of one family.
const maxAlike = 32

// separate returns c with the values that vary on a thread in streams, or c itself if there is
// nothing to do.
func separate(c *trace.Content) (*trace.Content, error) {
	if len(c.Signatures) <= maxAlike {
		return c, nil
	}
	functions := map[uint16]*trace.Function{}
	for i := range c.Functions {
		functions[c.Functions[i].ID] = &c.Functions[i]
	}
	members := map[string]int{}
	like := make([]string, len(c.Signatures))
	large := false
	for i := range c.Signatures {
		like[i] = likeness(c.Signatures[i], functions[c.Signatures[i].Function])
		members[like[i]]++
		large = large || members[like[i]] > maxAlike
	}
	if !large {
		return c, nil
	}
	out := *c
	out.Threads = trace.ThreadTable{}
	out.Signatures = slices.Clone(c.Signatures)
	out.Sequences = slices.Clone(c.Sequences)
	out.Grammar.Rules = slices.Clone(c.Grammar.Rules)
	alike := map[int][]int32{} // terminals below a root (which threads of a shard share) that may be joined
	for _, t := range c.Threads.All() {
		terminals, known := alike[t.Root]
		if !known {
			local := localize(c.Grammar, t.Root)
			terminals = mayBeFewer(local.terminals, like)
			alike[t.Root] = terminals
		}
		if len(terminals) > 0 {
			s := separation{c: &out, thread: &t, functions: functions}
			if err := s.run(terminals); err != nil {
				return nil, err
			}
		}
		out.Threads.Append(t)
	}
	return &out, nil
}

// mayBeFewer returns the terminals of which more than maxAlike are alike.
func mayBeFewer(terminals []int32, like []string) []int32 {
	members := map[string]int{}
	for _, terminal := range terminals {
		members[like[terminal]]++
	}
	return slices.DeleteFunc(slices.Clone(terminals), func(terminal int32) bool { return members[like[terminal]] <= maxAlike })
}

// likeness is the common part of all signatures that may be in one family on some thread.
func likeness(s trace.Signature, f *trace.Function) string {
	s = visit(s, f, &visitor{
		slot:    func(trace.Value) trace.Value { return trace.Value{} },
		stream:  func(v trace.Value, _ int32, _ *trace.Value) trace.Value { return v },
		request: func(trace.Value) trace.Value { return trace.Value{} },
	})
	s.OwnRank = -1
	return string(trace.AppendSignature(nil, &s))
}

// familyKey is the common part of signatures of a thread that differ only in numbers and requests:
// a family.
func familyKey(s trace.Signature, f *trace.Function) string {
	s = visit(s, f, &visitor{
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
	made      map[int32]map[int32]*codec.SequenceBuilder
	err       error
}

// A member is a signature as it is on the thread.
type member struct {
	terminal  int32
	signature trace.Signature
	constants []added // its streams that are constant
}

// changed describes what becomes of a signature.
type changed struct {
	terminal int32
	kept     []*source // the streams that it keeps
	add      []added   // the values that it adds to new streams
	requests map[int32]*requestList
}

// A source is the rest of a stream.
type source struct {
	number int32
	list   bool
	values *codec.ValueReader
}

// added is a value that goes to a new stream in each call.
type added struct {
	number int32
	value  trace.Value
}

func (s *separation) run(terminals []int32) error {
	families := map[string][]member{}
	var order []string
	for _, terminal := range terminals {
		m := s.onThread(terminal)
		key := familyKey(m.signature, s.functions[m.signature.Function])
		if families[key] == nil {
			order = append(order, key)
		}
		families[key] = append(families[key], m)
	}
	if s.err != nil {
		return s.err
	}
	for _, key := range order {
		if members := families[key]; len(members) > maxAlike {
			s.replace(members)
		}
	}
	if len(s.changed) == 0 {
		return nil
	}
	return s.rewrite()
}

// onThread returns a signature of a shard with the thread's own values, and with streams in place
// of constants.
func (s *separation) onThread(terminal int32) member {
	m := member{terminal: terminal}
	from := s.c.Signatures[terminal]
	m.signature = visit(from, s.functions[from.Function], &visitor{
		slot: s.value,
		stream: func(v trace.Value, number int32, constant *trace.Value) trace.Value {
			if constant != nil {
				m.constants = append(m.constants, added{number, s.value(*constant)})
			}
			return v
		},
	})
	if own := from.OwnRank; own < -1 {
		m.signature.OwnRank = int32(s.column(-2 - int64(own)))
	}
	return m
}

// value returns the thread's value of a value of a shard, like importer.element.
func (s *separation) value(v trace.Value) trace.Value {
	switch {
	case v.Form == trace.Column:
		return trace.Value{Form: trace.Int, Int: s.column(v.Int)}
	case v.Form == trace.Elastic && trace.Operator(v.Int) == trace.Cases && len(v.List) > 1:
		which := s.column(v.List[0].Int)
		if which < 0 || which >= int64(len(v.List)-1) || v.List[1+which].Form == trace.Elastic {
			s.err = errElement
			return v
		}
		return s.value(v.List[1+which])
	case v.Form == trace.Elastic:
		s.err = errElement
	}
	return v
}

func (s *separation) column(k int64) int64 {
	if k < 0 || k >= int64(len(s.c.Columns)) || s.thread.InShape < 0 || s.thread.InShape >= s.c.Columns[k].Len() {
		s.err = errElement
		return 0
	}
	return s.c.Columns[k].At(s.thread.InShape)
}

// replace replaces several signatures by one.
func (s *separation) replace(members []member) {
	if s.changed == nil {
		s.changed, s.made = map[int32]*changed{}, map[int32]map[int32]*codec.SequenceBuilder{}
		s.streams = map[int32][]trace.StreamRef{}
		for _, ref := range s.thread.Streams {
			s.streams[ref.Terminal] = append(s.streams[ref.Terminal], ref)
		}
	}
	f := s.functions[members[0].signature.Function]
	values := make([][]trace.Value, len(members))
	for i := range members {
		values[i] = variables(members[i].signature, f)
	}
	differs := make([]bool, len(values[0]))
	for _, mine := range values {
		for k := range mine {
			differs[k] = differs[k] || !equalValues(mine[k], values[0][k])
		}
	}
	first := nextStream(members[0].signature)
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
	signature := visit(members[0].signature, f, &visitor{
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
	s.made[terminal] = map[int32]*codec.SequenceBuilder{}
	requests := map[int32]*requestList{}
	for i := range members {
		old := members[i].terminal
		ch := &changed{terminal: terminal, requests: requests, add: members[i].constants}
		for k, v := range values[i] {
			if differs[k] {
				ch.add = append(ch.add, added{numbers[k], v})
			}
		}
		lists := listStreams(&s.c.Signatures[old])
		for _, ref := range s.streams[old] {
			ch.kept = append(ch.kept, &source{ref.Number, lists[ref.Number], s.c.Sequences[ref.Sequence].Read()})
		}
		s.changed[old] = ch
	}
}

// variables returns the values of a signature that may become streams, in order.
func variables(s trace.Signature, f *trace.Function) []trace.Value {
	var values []trace.Value
	visit(s, f, &visitor{
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

// listStreams returns the streams of a signature that are lists.
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
func (s *separation) rewrite() error {
	made := grammar.NewSequitur()
	for terminal := range s.c.Grammar.All(s.thread.Root) {
		if ch := s.changed[terminal]; ch != nil {
			if err := s.call(ch); err != nil {
				return err
			}
			terminal = ch.terminal
		}
		made.Append(terminal)
	}
	s.thread.SignaturesJoined = true
	s.thread.Root = len(s.c.Grammar.Rules)
	for _, body := range made.Grammar().Rules {
		for i, symbol := range body {
			if symbol.IsRule() {
				body[i] = grammar.RuleSymbol(symbol.Rule()+s.thread.Root, symbol.Count)
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
		for number := range numbers {
			streams = append(streams, trace.StreamRef{Terminal: terminal, Number: number, Sequence: -1})
		}
	}
	slices.SortFunc(streams, compareStreams)
	for i := range streams {
		if ref := &streams[i]; ref.Sequence < 0 {
			ref.Sequence = int32(len(s.c.Sequences))
			s.c.Sequences = append(s.c.Sequences, s.made[ref.Terminal][ref.Number].Sequence())
		}
	}
	s.thread.Streams = streams
	s.thread.Aggregates = renamed(s.thread.Aggregates, func(terminal int32) int32 {
		if ch := s.changed[terminal]; ch != nil {
			return ch.terminal
		}
		return terminal
	})
	return nil
}

// call moves the values of one call to the streams of the new signature.
func (s *separation) call(ch *changed) error {
	out := func(number int32) *codec.SequenceBuilder {
		made := s.made[ch.terminal]
		if made[number] == nil {
			made[number] = &codec.SequenceBuilder{}
		}
		return made[number]
	}
	for _, from := range ch.kept {
		to := out(from.number)
		for n, head := int64(1), from.list; n > 0; n-- {
			v, ok := from.values.Next()
			if !ok {
				if err := from.values.Err(); err != nil {
					return err
				}
				break
			}
			to.Push(v)
			if head && v > 0 {
				n += min(v, math.MaxInt32)
			}
			head = false
		}
	}
	for _, a := range ch.add {
		switch a.value.Form {
		case trace.List:
			list := ch.requests[a.number]
			if list == nil {
				list = &requestList{}
				ch.requests[a.number] = list
			}
			for _, v := range list.append(nil, a.value.List) {
				out(a.number).Push(v)
			}
		default:
			out(a.number).Push(requestNumber(a.value))
		}
	}
	return nil
}

// requestNumber is a request, or another number, as it is in a stream.
func requestNumber(v trace.Value) int64 {
	if v.Form == trace.Name {
		return trace.NullRequest
	}
	return v.Int
}

// A requestList is the requests of the last call: a stream has the changes.
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
