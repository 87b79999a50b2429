package merger

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// emit writes processes, at most one per rank, as a trace. All orders in it
// come from the content: ranks and threads by number, shapes, terminals, rules,
// columns, sequences and communicators by first use in that order, call sites and
// segments by what they are (places.go).
func (p *pool) emit(processes []*process, final bool) *trace.Content {
	processes = slices.Clone(processes)
	slices.SortFunc(processes, func(a, b *process) int { return cmp.Compare(a.rank.Rank, b.rank.Rank) })
	c := &trace.Content{}
	e := emission{
		pool: p, c: c, final: final,
		shapes: map[int32]*emitted{}, signatureIDs: map[string]int32{}, columnIDs: map[uint64][]int32{},
		sequences: sequenceTable{index: map[uint64][]int32{}}, streamSets: map[string][]trace.StreamRef{},
	}
	e.addRanks(processes)
	e.addThreads(processes)
	e.addGrids()
	for _, s := range e.order {
		e.addShape(s)
	}
	e.addGrammar()
	e.addStreams()
	c.Sequences = e.sequences.values
	e.addTables()
	return c
}

// An emission is a trace on its way out of the pool.
type emission struct {
	pool  *pool
	c     *trace.Content
	final bool

	shapes map[int32]*emitted
	order  []*emitted // by first thread

	signatures   []trace.Signature // distinct
	signatureIDs map[string]int32
	rules        ruleTable
	columnIDs    map[uint64][]int32
	sequences    sequenceTable
	streamSets   map[string][]trace.StreamRef
	grids        []grid
}

// An emitted shape is one with the rows that the trace has of it.
type emitted struct {
	shape    *shape
	rows     []int // of its columns, in order of place
	threads  []int // positions in Content.Threads
	world    []int64
	threaded bool       // some of the threads are not alone in their process
	instance []int      // per place: which vector of exponents it has
	counts   [][]uint64 // per instance: how often each local terminal comes
	roots    []int32    // per instance: number in the table of rules
	streams  []emittedStream
}

// An emittedStream is a stream of a signature of a shape.
type emittedStream struct {
	signature, number int32
	local             int     // terminal of the shape
	codes             []int64 // per place
	own               []int64 // per place, to be taken from the values; nil: the values are written as they are
}

func (e *emission) addRanks(processes []*process) {
	place := e.addCommunicators(processes)
	shared := map[*uint32][]uint32{}
	e.c.Ranks = make([]trace.Rank, len(processes))
	for i := range processes {
		rank := processes[i].rank
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
		e.c.Ranks[i] = rank
	}
}

// addThreads lists the threads and sorts them by shape.
func (e *emission) addThreads(processes []*process) {
	for i := range processes {
		for k := range processes[i].threads {
			t := &processes[i].threads[k]
			s := e.shapes[t.shape]
			if s == nil {
				s = &emitted{shape: &e.pool.shapes[t.shape]}
				e.shapes[t.shape] = s
				e.order = append(e.order, s)
			}
			s.rows = append(s.rows, t.row)
			s.threads = append(s.threads, len(e.c.Threads))
			s.world = append(s.world, int64(processes[i].rank.Rank))
			s.threaded = s.threaded || len(processes[i].threads) > 1
			e.c.Threads = append(e.c.Threads, trace.Thread{
				Rank: processes[i].rank.Rank, Thread: t.number, Calls: t.calls,
				FirstTick: t.firstTick, Gaps: t.gaps, Durations: t.durations,
				EndTick: t.endTick, InsideTicks: t.insideTicks, Timing: t.timing, SignaturesJoined: t.joined,
				Aggregates: t.aggregates, // still of the shape's terminals
			})
		}
	}
	for number, s := range e.order {
		for place, i := range s.threads {
			e.c.Threads[i].Shape, e.c.Threads[i].Place = number, place
		}
	}
}

// values are the codes of one column, by place.
func (s *emitted) values(column int) []int64 {
	all := s.shape.columns[column].values()
	if slices.IsSorted(s.rows) && len(s.rows) == len(all) {
		return all
	}
	mine := make([]int64, len(s.rows))
	for i, row := range s.rows {
		mine[i] = all[row]
	}
	return mine
}

// addShape chooses how the signatures of a shape are written, and makes its rules.
func (e *emission) addShape(s *emitted) {
	exponents := s.instances()
	s.countTerminals(exponents)
	terminals := make([]int32, len(s.shape.templates))
	used := map[int32]bool{}
	for k, id := range s.shape.templates {
		t := &e.pool.templates[id]
		signature, streams := e.signature(s, t, s.shape.first[k])
		key := trace.AppendSignature(nil, &signature)
		terminal := e.terminal(key, 0, signature)
		// two signatures with streams that became equal keep their streams apart
		for again := 1; used[terminal] && len(streams) > 0; again++ {
			terminal = e.terminal(key, again, signature)
		}
		used[terminal] = used[terminal] || len(streams) > 0
		terminals[k] = terminal
		for _, stream := range streams {
			stream.signature = terminal
			stream.local = k
			s.streams = append(s.streams, stream)
		}
	}
	s.addRoots(&e.rules, exponents, terminals)
	e.renameTiming(s, terminals)
}

// terminal finds or adds a signature; again tells equal ones of one shape apart.
func (e *emission) terminal(key []byte, again int, signature trace.Signature) int32 {
	name := string(binary.AppendUvarint(key[:len(key):len(key)], uint64(again)))
	id, known := e.signatureIDs[name]
	if !known {
		id = int32(len(e.signatures))
		e.signatureIDs[name] = id
		e.signatures = append(e.signatures, signature)
	}
	return id
}

// signature writes a template with what its columns, from first on, say. It returns the streams that stay.
func (e *emission) signature(s *emitted, t *template, first int) (trace.Signature, []emittedStream) {
	own := s.values(first)
	for i := range own {
		own[i] >>= 1
	}
	at := fitting{emission: e, own: e.relativeTo(s, t, own)}
	slots := make([]trace.Value, t.slots)
	for i := range slots {
		slots[i] = at.write(s.values(first + 1 + i))
	}
	var streams []emittedStream
	in := make([]trace.Value, len(t.streams))
	for i, number := range t.streams {
		in[i] = trace.Value{Form: trace.Stream, Int: int64(number)}
		codes := s.values(first + 1 + t.slots + i)
		switch {
		case slices.ContainsFunc(codes, func(code int64) bool { return code&1 == 1 }):
			stream := emittedStream{number: number, codes: codes}
			if e.final && e.betterRelative(codes, at.own) {
				stream.own = at.own
				in[i] = trace.Value{Form: trace.Elastic, Int: int64(trace.RelativeStream), List: []trace.Value{integer(int64(number))}}
			}
			streams = append(streams, stream)
		case e.final:
			in[i] = at.write(codes)
		default:
			in[i] = trace.Value{Form: trace.Elastic, Int: int64(trace.Constant), List: []trace.Value{integer(int64(number)), at.write(codes)}}
		}
	}
	for i, number := range t.others {
		streams = append(streams, emittedStream{number: number, codes: s.values(first + 1 + t.slots + len(t.streams) + i)})
	}
	signature := t.with(e.pool.functions[t.signature.Function], slots, in)
	if !e.final {
		signature.OwnRank = int32(own[0])
		if slices.ContainsFunc(own, func(x int64) bool { return x != own[0] }) {
			signature.OwnRank = int32(-2 - e.column(own))
		}
	}
	return signature, streams
}

func integer(x int64) trace.Value { return trace.Value{Form: trace.Int, Int: x} }

// column is the number of a column with these values.
func (e *emission) column(values []int64) int64 {
	h := hashValues(values)
	for _, i := range e.columnIDs[h] {
		if slices.Equal(e.c.Columns[i], values) {
			return int64(i)
		}
	}
	i := int32(len(e.c.Columns))
	e.columnIDs[h] = append(e.columnIDs[h], i)
	e.c.Columns = append(e.c.Columns, values)
	return int64(i)
}

// addGrammar numbers rules and terminals as the trace has them.
func (e *emission) addGrammar() {
	var roots []int32
	for _, s := range e.order {
		roots = append(roots, s.roots...) // of some instances the terminals may have made one
	}
	numbers := number(e.rules.bodies, roots)
	for _, id := range numbers.rules {
		e.c.Grammar.Rules = append(e.c.Grammar.Rules, numbers.body(e.rules.bodies[id]))
	}
	e.numberAggregates(numbers.terminal)
	for _, id := range numbers.signatures {
		e.c.Signatures = append(e.c.Signatures, e.signatures[id])
	}
	for _, s := range e.order {
		for place, i := range s.threads {
			e.c.Threads[i].Root = int(numbers.rule[s.roots[s.instance[place]]])
		}
		for k := range s.streams {
			s.streams[k].signature = numbers.terminal[s.streams[k].signature]
		}
		slices.SortFunc(s.streams, func(a, b emittedStream) int {
			return cmp.Or(cmp.Compare(a.signature, b.signature), cmp.Compare(a.number, b.number))
		})
	}
}

// addStreams gives every thread its streams, in order of threads.
func (e *emission) addStreams() {
	for i := range e.c.Threads {
		t := &e.c.Threads[i]
		s := e.order[t.Shape]
		if len(s.streams) == 0 {
			continue
		}
		refs := make([]trace.StreamRef, 0, len(s.streams))
		var key []byte
		for k := range s.streams {
			stream := &s.streams[k]
			if stream.codes[t.Place] == noStream {
				continue
			}
			ref := trace.StreamRef{Terminal: stream.signature, Number: stream.number, Sequence: e.sequence(s, stream, t.Place)}
			refs = append(refs, ref)
			key = binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(key, uint64(ref.Terminal)), uint64(ref.Number)), uint64(ref.Sequence))
		}
		if have, known := e.streamSets[string(key)]; known {
			refs = have
		} else {
			e.streamSets[string(key)] = refs
		}
		t.Streams = refs
	}
}

// sequence enters the values that a thread has in a stream.
func (e *emission) sequence(of *emitted, s *emittedStream, place int) int32 {
	code := s.codes[place]
	var values []int64
	if code&1 == 1 {
		values = e.pool.sequences[code>>1]
	} else {
		values = slices.Repeat([]int64{code >> 1}, int(of.counts[of.instance[place]][s.local]))
	}
	if s.own != nil {
		values = shifted(values, -s.own[place])
	}
	return e.sequences.add(values)
}

func shifted(values []int64, by int64) []int64 {
	out := make([]int64, len(values))
	for i, v := range values {
		out[i] = v + by
	}
	return out
}

// A sequenceTable enters distinct sequences in order of first use.
type sequenceTable struct {
	values [][]int64
	index  map[uint64][]int32
}

func (t *sequenceTable) add(values []int64) int32 {
	h := hashValues(values)
	for _, i := range t.index[h] {
		if slices.Equal(t.values[i], values) {
			return i
		}
	}
	i := int32(len(t.values))
	t.values = append(t.values, values)
	t.index[h] = append(t.index[h], i)
	return i
}
