package recorder

import (
	"encoding/binary"
	"unsafe"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
)

// Distinct signatures and call sites make a recorder grow. Before it reaches its memory limit it
// generalizes in steps. No step loses a call, or anything of a call whose signature is already
// known: the repetitive part of a program is recorded as before.
//
//   - From half of the limit on, new signatures are wide at once (families.go). This loses nothing.
//   - From three quarters on, new signatures have no call site, no texts and no allocations of
//     pointers, which no stream can represent, and no new call site is added.
//   - At the limit, new signatures have no arguments: there is one for each function and outcome.
//     Of new calls only their number, their times and the requests that they create are kept. New
//     communicators are not described: the trace does not know their members.
//
// A generalized signature is flagged (trace.Signature.Generalized), and a note of the trace
// mentions them. Objects that the program never frees still take memory for each handle; the MPI
// library needs more for each of them.

// A generality is the extent to which new signatures are generalized.
type generality uint8

const (
	keepsEverything generality = iota
	widensEarly
	dropsTexts
	dropsArguments
)

// generalizedKey is added to the function in the key of a generalized call.
const generalizedKey = 1 << 18

// grew counts bytes of new table entries. After a fraction of the limit has been added, and at
// every checkpoint, the memory is estimated anew.
func (r *Recorder) grew(bytes int) {
	if r.grown += bytes; r.grown > r.Limits.Memory/32 {
		r.limitMemory()
	}
}

// limitMemory generalizes as far as the estimated memory requires. It never goes back, since the
// entries remain.
func (r *Recorder) limitMemory() {
	r.grown = 0
	level := keepsEverything
	switch n, limit := r.Memory(), r.Limits.Memory; {
	case n >= limit:
		level = dropsArguments
	case n >= limit/4*3:
		level = dropsTexts
	case n >= limit/2:
		level = widensEarly
	}
	r.generalizeTo(max(level, r.generality))
}

func (r *Recorder) generalizeTo(level generality) {
	r.generality = level
	r.families.early = level >= widensEarly
	r.sites.closed = level >= dropsTexts
}

// generalize returns the key to use instead of a new one, and replaces the call's stream values
// accordingly.
func (r *Recorder) generalize(key []byte, l *layout, creates bool) []byte {
	if r.generality < dropsTexts {
		return key
	}
	g := &r.generalizing
	if g.signature(key, l) || r.sites.missed {
		key = g.to
	}
	if r.generality < dropsArguments || r.knows(key, creates) {
		return key
	}
	return r.bare(key, l, creates)
}

// bare returns a key without arguments, except for the created request and the communicator.
func (r *Recorder) bare(key []byte, l *layout, creates bool) []byte {
	g, s := &r.generalizing, &r.scratch
	k := keyScanner{key: textOf(key)}
	g.bare = binary.AppendUvarint(g.bare[:0], k.uvarint()|generalizedKey)
	g.bare = append(g.bare, 0) // no site
	g.bare = binary.AppendVarint(g.bare, none)
	for range 2 { // site, own rank
		k.uvarint()
	}
	returned := k.next()
	g.bare = append(g.bare, key[k.begin:k.at]...)
	for i := range l.params {
		if l.params[i].in {
			g.bare = appendForm(g.bare, trace.Absent)
		}
	}
	for i := range l.params {
		switch {
		case !l.params[i].out:
		case creates && i == l.newRequest:
			g.bare = append(g.bare, formNewRequest)
		default:
			g.bare = appendForm(g.bare, trace.Absent)
		}
	}
	communicator := key[len(key)-1]
	g.bare = append(g.bare, communicator)
	values, lengths := s.values, s.lengths
	s.values, s.lengths = s.values[:0], s.lengths[:0]
	if returned == trace.Stream {
		s.push(values[0])
	}
	if communicator != 0 {
		s.values, s.lengths = append(s.values, values[len(values)-1]), append(s.lengths, lengths[len(lengths)-1])
	}
	return g.bare
}

// A generalizing copies a key without the values that no stream can represent.
type generalizing struct {
	keyCopy
	bare []byte
}

// signature generalizes a key, and reports whether anything was left out.
func (g *generalizing) signature(key []byte, l *layout) (changed bool) {
	g.start(textOf(key))
	g.to = binary.AppendUvarint(g.to, g.uvarint()|generalizedKey)
	changed = g.uvarint() != 0
	g.to = append(g.to, 0) // no site
	g.copied = g.at
	g.uvarint() // own rank
	for parts := l.values(); parts > 0 && !g.bad; parts-- {
		switch g.next() {
		case trace.List:
			parts += int(g.number)
		case trace.Text:
			g.replace(g.begin, trace.Absent)
			changed = true
		case trace.Code, formLocated:
			g.replace(g.begin, trace.Pointer)
			changed = true
		}
	}
	g.end()
	return changed
}

// values returns the number of values in a key of the function: its result, and its parameters
// before and after the call.
func (l *layout) values() int {
	n := 1
	for i := range l.params {
		if l.params[i].in {
			n++
		}
		if l.params[i].out {
			n++
		}
	}
	return n
}

// memoryLimit is the default memory limit of a recorder: a few percent of the memory of an HPC
// rank, since nodes have 2 GiB and more per core. The recorder generalizes before it reaches the
// limit (generality).
const memoryLimit = 32 << 20

// Memory estimates the memory of the recorder in bytes: tables, grammars, streams, and times that
// have not been written to a file. TestMemoryEstimate compares it with the heap.
func (r *Recorder) Memory() int {
	n := r.signatures.memory() + r.objects.Memory() + r.sites.memory()
	n += len(r.families.keys)*identity.EntryBytes/2 + r.repeats.count*repeatBytes
	for _, b := range r.full {
		n += int(unsafe.Sizeof(*b)) + cap(b.Data[0]) + cap(b.Data[1])
	}
	for _, t := range r.threads {
		n += t.memory()
	}
	return n
}

// mergedSymbol is the memory of a grammar symbol while a shard is made: in the recorder, the trace
// and the merged trace, with the tables that find equal symbols.
const mergedSymbol = 80

// ShardMemory estimates the memory in bytes of c, a trace of the recorder, and of a merge of it.
func (r *Recorder) ShardMemory(c *trace.Content) int64 {
	n := r.Memory()
	for _, t := range r.threads {
		n -= t.grammar.Bytes()
	}
	for _, body := range c.Grammar.Rules {
		n += len(body) * mergedSymbol
	}
	sequences := int64(0)
	for i := range c.Sequences {
		sequences += c.Sequences[i].Memory()
	}
	return int64(n) + sequences
}

// repeatBytes is the average memory of a repeat with its lists.
const repeatBytes = 768

func (s *signatures) memory() int {
	return s.keyBytes + len(s.byKey)*identity.EntryBytes + cap(s.terminals)*int(unsafe.Sizeof(terminal{}))
}

func (s *sites) memory() int {
	const site = 120 // trace.Site, whose texts are shared
	return s.byAddress.Memory() + len(s.list)*(site+2*site)
}

func (t *thread) memory() int {
	n := t.grammar.Bytes() + cap(t.gaps.b) + cap(t.durations.b) + cap(t.results)*int(unsafe.Sizeof(results{}))
	for i := range t.results {
		rs := &t.results[i]
		n += cap(rs.streams)*int(unsafe.Sizeof(stream{})) + 8*cap(rs.words)
		for k := range rs.streams {
			n += cap(rs.streams[k].runs)
		}
	}
	return n + 8*(cap(t.loop.words)+cap(t.loop.stamps))
}
