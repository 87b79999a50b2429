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
	like, large := likenesses(c, functions)
	if !large {
		return c, nil
	}
	out := *c
	out.Threads = trace.ThreadTable{}
	// what is appended is not c's
	out.Signatures = slices.Clip(c.Signatures)
	out.Sequences = slices.Clip(c.Sequences)
	out.Grammar.Rules = slices.Clip(c.Grammar.Rules)
	s := newSeparation(&out, functions)
	// terminals below a root (which threads of a shard share) that may be joined
	alike := map[int][]int32{}
	for _, t := range c.Threads.All() {
		terminals, known := alike[t.Root]
		if !known {
			local := localize(c.Grammar, t.Root)
			terminals = mayBeFewer(local.terminals, like)
			alike[t.Root] = terminals
		}
		if len(terminals) > 0 {
			if err := s.run(&t, terminals); err != nil {
				return nil, err
			}
		}
		out.Threads.Append(t)
	}
	return &out, nil
}

// likenesses numbers the signatures by what is common to all that may be in one family on some
// thread. It reports whether more than maxAlike are alike.
func likenesses(c *trace.Content, functions map[uint16]*trace.Function) (like []int32, large bool) {
	zero := func(trace.Value) trace.Value { return trace.Value{} }
	key := newKeyMaker(&visitor{slot: zero, request: zero})
	numbers := map[string]int32{}
	var members []int
	like = make([]int32, len(c.Signatures))
	for i, s := range c.Signatures {
		s.OwnRank = -1
		text := key.of(s, functions[s.Function])
		number, known := numbers[string(text)]
		if !known {
			number = int32(len(members))
			numbers[string(text)] = number
			members = append(members, 0)
		}
		like[i] = number
		members[number]++
		large = large || members[number] > maxAlike
	}
	return like, large
}

// mayBeFewer returns the terminals of which more than maxAlike are alike.
func mayBeFewer(terminals, like []int32) []int32 {
	members := map[int32]int{}
	for _, terminal := range terminals {
		members[like[terminal]]++
	}
	return slices.DeleteFunc(slices.Clone(terminals), func(terminal int32) bool { return members[like[terminal]] <= maxAlike })
}

// A keyMaker encodes signatures as a visitor changes them.
type keyMaker struct {
	visitor *visitor
	key     []byte
}

func newKeyMaker(v *visitor) *keyMaker {
	v.lists.size = arenaSize
	return &keyMaker{visitor: v}
}

// of returns the encoding of a signature, which is valid until the next call.
func (k *keyMaker) of(s trace.Signature, f *trace.Function) []byte {
	k.visitor.lists.reset()
	s = visit(s, f, k.visitor)
	k.key = trace.AppendSignature(k.key[:0], &s)
	return k.key
}

// A separation works on one thread at a time.
type separation struct {
	c         *trace.Content
	functions map[uint16]*trace.Function
	family    *keyMaker // of a signature's family; it sees member
	member    member
	lists     arena // of the variables of the thread's members

	thread  *trace.Thread
	streams map[int32][]trace.StreamRef
	changed map[int32]*changed // by old terminal
	made    []*madeStream
	err     error
}

// A member is a signature of a family, with its values on the thread.
type member struct {
	terminal  int32
	variables []trace.Value // its values that may become streams, in order
	constants []constant    // its streams that are constant
}

// A constant is the value of a stream in all calls.
type constant struct {
	number int32
	value  trace.Value
}

// changed describes what becomes of a signature.
type changed struct {
	terminal int32
	kept     []source // the streams that it keeps
	add      []added  // the values that it adds to new streams
}

// A source is the rest of a stream.
type source struct {
	to     *madeStream
	list   bool
	values *codec.ValueReader
}

// added is a value that goes to a new stream in each call.
type added struct {
	to    *madeStream
	value trace.Value
}

// A madeStream is a stream of a signature that replaces others.
type madeStream struct {
	terminal, number int32
	values           codec.SequenceBuilder
	before           requestList // if its values are lists
}

func newSeparation(c *trace.Content, functions map[uint16]*trace.Function) *separation {
	s := &separation{c: c, functions: functions, lists: arena{size: arenaSize}}
	s.family = newKeyMaker(&visitor{
		slot: func(v trace.Value) trace.Value {
			if v = s.value(v); v.Form == trace.Int {
				s.member.variables = append(s.member.variables, v)
				v.Int = 0
			}
			return v
		},
		stream: func(v trace.Value, number int32, value *trace.Value) trace.Value {
			if value != nil {
				s.member.constants = append(s.member.constants, constant{number, s.value(*value)})
			}
			return v
		},
		request: func(v trace.Value) trace.Value {
			s.member.variables = append(s.member.variables, v)
			return trace.Value{Form: trace.Handle} // not Absent: then there is no variable
		},
	})
	return s
}

func (s *separation) run(thread *trace.Thread, terminals []int32) error {
	s.thread, s.streams, s.changed, s.made = thread, nil, nil, nil
	families := s.families(terminals)
	if s.err != nil {
		return s.err
	}
	for _, members := range families {
		if len(members) > maxAlike {
			s.replace(members)
		}
	}
	if s.err != nil || len(s.changed) == 0 {
		return s.err
	}
	return s.rewrite()
}

// families returns the signatures of the thread that differ only in numbers and requests, family by
// family, in order of first use.
func (s *separation) families(terminals []int32) [][]member {
	s.lists.reset()
	numbers := map[string]int{}
	var families [][]member
	for _, terminal := range terminals {
		s.member = member{variables: s.member.variables[:0]}
		signature := s.c.Signatures[terminal]
		signature.OwnRank = s.ownRank(signature.OwnRank)
		text := s.family.of(signature, s.functions[signature.Function])
		number, known := numbers[string(text)]
		if !known {
			number = len(families)
			numbers[string(text)] = number
			families = append(families, nil)
		}
		families[number] = append(families[number], member{terminal, s.lists.clone(s.member.variables), s.member.constants})
	}
	return families
}

// onThread returns a signature of a shard with the thread's own values, and with streams in place
// of constants.
func (s *separation) onThread(terminal int32) trace.Signature {
	signature := s.c.Signatures[terminal]
	signature.OwnRank = s.ownRank(signature.OwnRank)
	return visit(signature, s.functions[signature.Function], &visitor{slot: s.value})
}

// ownRank returns the thread's value of Signature.OwnRank.
func (s *separation) ownRank(own int32) int32 {
	if own < -1 {
		return int32(s.column(-2 - int64(own)))
	}
	return own
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
		s.changed, s.streams = map[int32]*changed{}, map[int32][]trace.StreamRef{}
		for _, ref := range s.thread.Streams {
			s.streams[ref.Terminal] = append(s.streams[ref.Terminal], ref)
		}
	}
	// 1. The values that differ get streams.
	differs, differing := make([]bool, len(members[0].variables)), 0
	for i := range members {
		for k, v := range members[i].variables {
			differs[k] = differs[k] || !equalValues(v, members[0].variables[k])
		}
	}
	terminal := int32(len(s.c.Signatures))
	made := map[int32]*madeStream{}
	to := func(number int32) *madeStream {
		if made[number] == nil {
			made[number] = &madeStream{terminal: terminal, number: number}
			s.made = append(s.made, made[number])
		}
		return made[number]
	}
	streams := make([]*madeStream, len(differs))
	signature := s.onThread(members[0].terminal)
	next := nextStream(signature)
	for k := range differs {
		if differs[k] {
			streams[k] = to(next)
			next++
			differing++
		}
	}
	// 2. The signature refers to these.
	signature, fits := withStreams(signature, s.functions[signature.Function], streams)
	if !fits {
		s.err = errElement
		return
	}
	s.c.Signatures = append(s.c.Signatures, signature)
	// 3. Each call of an old signature moves its values.
	for i := range members {
		m := &members[i]
		ch := &changed{terminal: terminal, add: make([]added, 0, len(m.constants)+differing)}
		for _, c := range m.constants {
			ch.add = append(ch.add, added{to(c.number), c.value})
		}
		for k, v := range m.variables {
			if differs[k] {
				ch.add = append(ch.add, added{streams[k], v})
			}
		}
		if refs := s.streams[m.terminal]; len(refs) > 0 {
			lists := listStreams(&s.c.Signatures[m.terminal])
			for _, ref := range refs {
				ch.kept = append(ch.kept, source{to(ref.Number), lists[ref.Number], s.c.Sequences[ref.Sequence].Read()})
			}
		}
		s.changed[m.terminal] = ch
	}
}

// withStreams returns a signature with streams in place of its variables that have one. It reports
// whether the signature has as many variables: one of a damaged shard may not.
func withStreams(s trace.Signature, f *trace.Function, streams []*madeStream) (with trace.Signature, fits bool) {
	at := 0
	put := func(v trace.Value, form trace.Form) trace.Value {
		at++
		if at > len(streams) {
			return v
		}
		if made := streams[at-1]; made != nil {
			return trace.Value{Form: form, Int: int64(made.number)}
		}
		return v
	}
	with = visit(s, f, &visitor{
		slot: func(v trace.Value) trace.Value {
			if v.Form != trace.Int {
				return v
			}
			return put(v, trace.Stream)
		},
		request: func(v trace.Value) trace.Value {
			if v.Form == trace.List {
				return put(v, trace.ListStream)
			}
			return put(v, trace.Stream)
		},
	})
	return with, at == len(streams)
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
			if err := ch.call(); err != nil {
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
	for _, made := range s.made {
		if made.values.Len() > 0 {
			streams = append(streams, trace.StreamRef{
				Terminal: made.terminal, Number: made.number, Sequence: int32(len(s.c.Sequences)),
			})
			s.c.Sequences = append(s.c.Sequences, made.values.Sequence())
		}
	}
	slices.SortFunc(streams, compareStreams)
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
func (ch *changed) call() error {
	for _, from := range ch.kept {
		for n, head := int64(1), from.list; n > 0; n-- {
			v, ok := from.values.Next()
			if !ok {
				if err := from.values.Err(); err != nil {
					return err
				}
				break
			}
			from.to.values.Push(v)
			if head && v > 0 {
				n += min(v, math.MaxInt32)
			}
			head = false
		}
	}
	for _, a := range ch.add {
		if a.value.Form != trace.List {
			a.to.values.Push(requestNumber(a.value))
			continue
		}
		for _, v := range a.to.before.append(nil, a.value.List) {
			a.to.values.Push(v)
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
