package merger

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// export writes processes, sorted by rank, each rank once, as a trace. All orders in it depend on
// the content only: ranks and threads are sorted by number; shapes, terminals, rules, columns,
// sequences and communicators by first use in that order; call sites and allocations by their
// identity (places.go).
func (p *internTable) export(of *processes, order []int32, final bool, meta *trace.Meta) (*trace.Content, error) {
	c := &trace.Content{}
	e := exporter{
		table: p, c: c, final: final, timing: meta.Timing.Mode, worldSize: meta.WorldSize,
		shapes: map[int]*exported{}, signatureIDs: make(map[string]int32, len(p.templates)), columnIDs: map[uint64][]int32{},
		requests: map[requestKey]int64{},
	}
	if final {
		e.sources = p.sources(meta.CallSites == "path")
	}
	e.addRanks(of, order)
	e.findShapes(of, order)
	e.addGrids()
	e.elect()
	for _, s := range e.order {
		e.addShape(s)
	}
	e.addGrammar()
	e.addThreads(of, order)
	c.Sequences = e.sequences.List
	e.addTables()
	return c, e.err
}

// An exporter makes a trace from the intern table.
type exporter struct {
	table     *internTable
	c         *trace.Content
	final     bool
	timing    timing.Mode
	worldSize int
	sources   sourceSites

	shapes map[int]*exported
	order  []*exported // by first thread

	signatures   []exportedSignature // distinct
	signatureIDs map[string]int32
	rules        ruleTable
	columnIDs    map[uint64][]int32
	sequences    codec.SequenceTable
	err          error // the first one: chunks of sequences are read here
	grids        []grid
	ofWorld      []grid // worldGrids, once computed
	election     election
	requests     map[requestKey]int64 // numbers of requests (requests.go)
}

// An exported shape is a shape restricted to the threads that are written.
type exported struct {
	shape     *shape
	number    int
	rows      codec.Numbers // of its columns, by place
	world     codec.Numbers // ranks, by place
	threaded  bool          // some threads have siblings in their process
	instance  codec.Numbers // per place: index of its vector of exponents
	counts    [][]uint64    // per instance: number of occurrences of each local terminal
	roots     []int32       // per instance: number in the table of rules, finally in the trace
	terminals []int32       // of each local terminal: the signature, finally its number in the trace
	joined    bool          // several terminals have become equal
	streams   []exportedStream
	next      exportedThread
}

// An exportedSignature is a signature of a trace, and where it was used last: several signatures of
// one shape may become one.
type exportedSignature struct {
	trace.Signature
	last         *exported // the last shape that has it
	lastStreamed *exported // the last shape in which it has streams
}

// An exportedStream is a stream of a signature of a shape.
type exportedStream struct {
	signature, number int32
	local             int            // terminal of the shape
	codes             codec.Numbers  // per place
	own               *codec.Numbers // per place, to be subtracted from the values; nil: the values are absolute
}

func (e *exporter) addRanks(of *processes, order []int32) {
	place := e.addCommunicators(of, order)
	shared := map[*uint32][]uint32{}
	clocks := sharedClocks{clockTolerance(e.timing), map[string]*sharedClock{}}
	cpus, polls := seenCPUs{}, e.table.polls()
	var start starts
	var largest instances
	if e.final {
		largest = largestInstances(of, order)
	}
	at := of.ranks.Lookup()
	for _, process := range order {
		rank := at(int(process))
		if own := rank.CommunicatorsOwn; len(own) > 0 {
			mine, known := shared[&own[0]]
			if !known {
				mine = make([]uint32, len(own))
				for k, id := range own {
					mine[k] = uint32(place[int32(id)])
				}
				shared[&own[0]] = mine
			}
			rank.CommunicatorsOwn = mine
		}
		if e.final {
			rank.Clock.Samples = clocks.samplesOf(&rank)
			rank.StartRealtimeNS = start.of(rank.StartRealtimeNS)
			rank.Context = cpus.ofRun(&rank, polls)
			rank.Outliers = largest[process]
			rank.Threads = worthThreads(&rank)
		}
		e.c.Ranks.Append(rank)
	}
}

// findShapes sorts the threads by shape, and shapes by their first thread.
func (e *exporter) findShapes(of *processes, order []int32) {
	of.allThreads(order, func(t trace.Thread, alone bool) {
		s := e.shapes[t.Shape]
		if s == nil {
			s = &exported{shape: &e.table.shapes[t.Shape], number: len(e.order)}
			e.shapes[t.Shape] = s
			e.order = append(e.order, s)
		}
		s.rows.Push(int64(t.InShape))
		s.world.Push(int64(t.Rank))
		s.threaded = s.threaded || !alone
	})
}

// values are the codes of a column, by place.
func (s *exported) values(column int) codec.Numbers { return s.valuesOf(&s.shape.columns[column]) }

func (s *exported) valuesOf(all *codec.Numbers) codec.Numbers {
	var mine codec.Numbers
	if v, ok := all.Constant(); ok {
		mine.PushRun(v, 0, s.rows.Len())
		return mine
	}
	for run, count := range all.RunsAt(&s.rows) {
		mine.PushRun(run.First, run.Step, count)
	}
	return mine
}

// numbersOfCodes decodes codes that are all numbers.
func numbersOfCodes(codes codec.Numbers) codec.Numbers {
	var numbers codec.Numbers
	for run, count := range codes.Runs() {
		numbers.PushRun(run.First>>1, run.Step>>1, count)
	}
	return numbers
}

// allNumbers reports whether none of the codes is a name or a sequence.
func allNumbers(codes *codec.Numbers) bool {
	for run, count := range codes.Runs() {
		if run.First&1 == 1 || count > 1 && run.Step&1 == 1 {
			return false
		}
	}
	return true
}

// addShape chooses how the signatures of a shape are written, and makes its rules.
func (e *exporter) addShape(s *exported) {
	exponents := s.instances()
	s.countTerminals(exponents)
	terminals := make([]int32, len(s.shape.templates))
	signatures := make([]trace.Signature, len(s.shape.templates))
	streams := make([][]exportedStream, len(s.shape.templates))
	for k, id := range s.shape.templates {
		signatures[k], streams[k] = e.signature(s, e.table.templates[id], s.shape.first[k])
	}
	e.renumber(s, signatures)
	e.signatures = slices.Grow(e.signatures, len(signatures))
	for k, signature := range signatures {
		key := trace.AppendSignature(nil, &signature)
		terminal := e.terminal(key, 0, signature)
		// two signatures with streams that became equal keep separate streams
		for again := 1; len(streams[k]) > 0 && e.signatures[terminal].lastStreamed == s; again++ {
			terminal = e.terminal(key, again, signature)
		}
		written := &e.signatures[terminal]
		s.joined = s.joined || written.last == s
		written.last = s
		if len(streams[k]) > 0 {
			written.lastStreamed = s
		}
		terminals[k] = terminal
		for _, stream := range streams[k] {
			stream.signature = terminal
			stream.local = k
			s.streams = append(s.streams, stream)
		}
	}
	s.addRoots(&e.rules, exponents, terminals)
	s.terminals = terminals
}

// terminal finds or adds a signature; again distinguishes equal ones of one shape.
func (e *exporter) terminal(key []byte, again int, signature trace.Signature) int32 {
	name := string(binary.AppendUvarint(key[:len(key):len(key)], uint64(again)))
	id, known := e.signatureIDs[name]
	if !known {
		id = int32(len(e.signatures))
		e.signatureIDs[name] = id
		e.signatures = append(e.signatures, exportedSignature{Signature: signature})
	}
	return id
}

// signature fills a template from its columns, which begin at first. It returns the streams that
// are not replaced.
func (e *exporter) signature(s *exported, t *template, first int) (trace.Signature, []exportedStream) {
	own := numbersOfCodes(s.values(first))
	at := encodingChoice{exporter: e, own: e.relativeTo(s, t, &own)}
	slots := make([]trace.Value, t.slots)
	for i := range slots {
		slots[i] = e.slot(s, t, &at, i, s.values(first+1+i))
	}
	var streams []exportedStream
	in := make([]trace.Value, len(t.streams))
	for i, number := range t.streams {
		in[i] = trace.Value{Form: trace.Stream, Int: int64(number)}
		codes := s.values(first + 1 + t.slots + i)
		switch {
		case !allNumbers(&codes):
			stream := exportedStream{number: number, codes: codes}
			if e.final && e.betterRelative(&codes, at.own) {
				stream.own = at.own
				in[i] = trace.Value{Form: trace.Elastic, Int: int64(trace.RelativeStream), List: []trace.Value{integer(int64(number))}}
			}
			streams = append(streams, stream)
		case e.final:
			in[i] = e.slot(s, t, &at, t.slots+i, codes)
		default:
			in[i] = trace.Value{Form: trace.Elastic, Int: int64(trace.Constant), List: []trace.Value{integer(int64(number)), at.write(codes)}}
		}
	}
	for i, number := range t.others {
		streams = append(streams, exportedStream{number: number, codes: s.values(first + 1 + t.slots + len(t.streams) + i)})
	}
	signature := t.with(e.table.functions[t.signature.Function], slots, in)
	signature.Site = e.sources.of(signature.Site)
	if !e.final {
		signature.OwnRank = int32(own.At(0))
		if _, constant := own.Constant(); !constant {
			signature.OwnRank = int32(-2 - e.column(own.Values(nil)))
		}
	}
	return signature, streams
}

// slot returns how a slot, or a stream that a number replaces, is written.
func (e *exporter) slot(s *exported, t *template, at *encodingChoice, slot int, codes codec.Numbers) trace.Value {
	if e.election.votes != nil && s.single() {
		return at.elected(e.slotKey(t, slot), codes.At(0))
	}
	return at.write(codes)
}

func integer(x int64) trace.Value { return trace.Value{Form: trace.Int, Int: x} }

// column returns the number of a column with these values.
func (e *exporter) column(values []int64) int64 {
	h := hashValues(values)
	column := codec.NewNumbers(values...)
	for _, i := range e.columnIDs[h] {
		if e.c.Columns[i].Equal(&column) {
			return int64(i)
		}
	}
	i := int32(len(e.c.Columns))
	e.columnIDs[h] = append(e.columnIDs[h], i)
	e.c.Columns = append(e.c.Columns, column)
	return int64(i)
}

// addGrammar numbers rules and terminals as in the trace.
func (e *exporter) addGrammar() {
	var roots []int32
	for _, s := range e.order {
		roots = append(roots, s.roots...) // terminals of some instances may have become one
	}
	numbers := number(e.rules.bodies, len(e.signatures), roots)
	for _, id := range numbers.rules {
		e.c.Grammar.Rules = append(e.c.Grammar.Rules, numbers.body(e.rules.bodies[id]))
	}
	e.c.Signatures = make([]trace.Signature, 0, len(numbers.signatures))
	for _, id := range numbers.signatures {
		e.c.Signatures = append(e.c.Signatures, e.signatures[id].Signature)
	}
	for _, s := range e.order {
		for k, root := range s.roots {
			s.roots[k] = numbers.rule[root]
		}
		for k, terminal := range s.terminals {
			s.terminals[k] = numbers.terminal[terminal]
		}
		for k := range s.streams {
			s.streams[k].signature = numbers.terminal[s.streams[k].signature]
		}
		slices.SortFunc(s.streams, func(a, b exportedStream) int {
			return cmp.Or(cmp.Compare(a.signature, b.signature), cmp.Compare(a.number, b.number))
		})
	}
}

// An exportedThread is the next thread of a shape to be written.
type exportedThread struct {
	place    int
	instance func(int) int64
	codes    []func(int) int64 // of each stream
	own      []func(int) int64 // nil: the stream is not relative
	before   []int64           // codes, ranks and instance of the previous thread
	refs     []trace.StreamRef // its streams
}

// addThreads lists the threads.
func (e *exporter) addThreads(of *processes, order []int32) {
	for _, s := range e.order {
		s.next.instance = s.instance.Lookup()
		for k := range s.streams {
			s.next.codes = append(s.next.codes, s.streams[k].codes.Lookup())
			if own := s.streams[k].own; own != nil {
				s.next.own = append(s.next.own, own.Lookup())
			} else {
				s.next.own = append(s.next.own, nil)
			}
		}
	}
	of.allThreads(order, func(t trace.Thread, _ bool) {
		s := e.shapes[t.Shape]
		t.Shape, t.InShape = s.number, s.next.place
		t.Root = int(s.roots[s.next.instance(t.InShape)])
		t.Streams = e.streamsOf(s)
		t.SignaturesJoined = t.SignaturesJoined || s.joined
		t.Aggregates = renamed(t.Aggregates, func(terminal int32) int32 { return s.terminals[terminal] })
		t.Chapters = s.chapters(t.Chapters)
		e.c.Threads.Append(t)
		s.next.place++
	})
}

// streamsOf returns the streams of the next thread of a shape. Mostly they are those of the
// previous one.
func (e *exporter) streamsOf(s *exported) []trace.StreamRef {
	if len(s.streams) == 0 {
		return nil
	}
	next := &s.next
	again := next.before != nil
	if next.before == nil {
		next.before = make([]int64, 2*len(s.streams)+1)
	}
	note := func(k int, x int64) {
		again = again && next.before[k] == x
		next.before[k] = x
	}
	note(2*len(s.streams), next.instance(next.place))
	for k := range s.streams {
		note(2*k, next.codes[k](next.place))
		if next.own[k] != nil {
			note(2*k+1, next.own[k](next.place))
		}
	}
	if again {
		return next.refs
	}
	next.refs = make([]trace.StreamRef, 0, len(s.streams))
	for k := range s.streams {
		if stream := &s.streams[k]; next.before[2*k] != noStream {
			next.refs = append(next.refs, trace.StreamRef{
				Terminal: stream.signature, Number: stream.number, Sequence: e.sequence(s, k),
			})
		}
	}
	return next.refs
}

// sequence adds the values of the next thread of a shape in a stream to the table of sequences.
func (e *exporter) sequence(s *exported, k int) int32 {
	code, stream := s.next.before[2*k], &s.streams[k]
	var values codec.Sequence
	if code&1 == 1 {
		values = e.table.sequences.List[code>>1]
	} else {
		var b codec.SequenceBuilder
		b.PushRun(code>>1, s.counts[s.next.before[2*len(s.streams)]][stream.local])
		values = b.Sequence()
	}
	if stream.own != nil {
		values = e.plus(values, -s.next.before[2*k+1])
	}
	return e.sequences.Add(values)
}

// plus returns a sequence with more added to all values.
func (e *exporter) plus(s codec.Sequence, more int64) codec.Sequence {
	sum, err := s.Plus(more)
	e.err = cmp.Or(e.err, err)
	return sum
}
