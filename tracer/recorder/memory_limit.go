package recorder

import (
	"encoding/binary"
	"unsafe"

	"github.com/cairn-mpi/cairn/trace"
)

// What is new makes a recorder grow: signatures, places in the program. Before it reaches its limit of memory it generalizes,
// in steps. No step loses a call, nor anything of a call whose signature is known by then: the part of a program that repeats
// itself is recorded as before.
//
//   - From half of the limit on, a new signature is a wide one at once (families.go). Nothing is lost by that.
//   - From three quarters on, new signatures have neither a call site nor texts nor what pointers lead to, which no stream can
//     hold, and no new place in the program is learned.
//   - At the limit, new signatures have no arguments: there is one for each function and outcome. Their number is what is
//     left of the calls, beside their times and the requests that they create. New communicators are not described: the trace
//     does not know who is in them.
//
// A signature that lacks something says so (trace.Signature.Generalized), and a note of the trace says that there are some.
// Objects that the program never frees are known by their handles all the same: the MPI library holds more of each.
type generality uint8

const (
	keepsEverything generality = iota
	widensEarly
	dropsTexts
	dropsArguments
)

// generalizedKey is added to the function in the key of a call that lacks something.
const generalizedKey = 1 << 18

// grew takes into account that there is something new of so many bytes. What the recorder holds is looked at when that has
// come to a part of the limit, and at every checkpoint.
func (r *Recorder) grew(bytes int) {
	if r.grown += bytes; r.grown > r.Limits.Memory/32 {
		r.limitMemory()
	}
}

// limitMemory generalizes as far as what the recorder holds asks for. There is no way back: what was new once is known.
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

// generalize gives the key that a call has instead of one that is not known, and what goes to its streams with it.
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

// bare is a key without arguments: of those only the request that the call creates is left, and the communicator.
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

// A generalizing copies a key without what no stream can hold.
type generalizing struct {
	keyCopy
	bare []byte
}

// signature generalizes a key, and reports whether there was something to leave out.
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

// values is how many values a key of the function has: what it returns, and its parameters before and after the call.
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

// memoryLimit is what a recorder may hold, a few percent of what a rank of an HPC job has: nodes have 2 GiB and more for each
// core. Before it is reached the recorder generalizes (generality).
const memoryLimit = 32 << 20

// What an entry of a table takes beyond its text: the table's slot at the usual load, and what rounding up to a size class of
// the allocator adds.
const (
	mapEntry  = 48
	textBytes = 12
)

// Memory estimates what the recorder holds: the tables that grow with what is new, grammars, streams, and times that are in no
// file yet. TestMemoryEstimate compares it with the heap.
func (r *Recorder) Memory() int {
	n := r.signatures.memory() + r.requests.memory() + len(r.families.keys)*mapEntry/2 + r.sites.memory()
	n += r.repeats.count*repeatBytes + r.communicators.nameBytes
	for _, h := range r.handles {
		if h != nil {
			n += h.table.memory() + 13*cap(h.raw) + 4*cap(h.changed)
		}
	}
	for i := range r.communicators.instances {
		c := &r.communicators.instances[i]
		n += int(unsafe.Sizeof(*c)) + len(c.GlobalName) + len(c.Label) + 2*textBytes + 32*(len(c.Members)+len(c.Remote))
	}
	for _, b := range r.full {
		n += int(unsafe.Sizeof(*b)) + cap(b.Data[0]) + cap(b.Data[1])
	}
	for _, t := range r.threads {
		n += t.memory()
	}
	return n
}

// mergedSymbol is what a symbol of a grammar takes of memory while a shard is made of it: as the recorder's, as the trace's and as
// the merged one's, with what finds equal ones.
const mergedSymbol = 80

// ShardMemory estimates what a trace takes that was made of the recorder, together with what a merge makes of it.
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

// repeatBytes is what a repeat takes with its lists, on average.
const repeatBytes = 768

func (s *signatures) memory() int {
	return s.keyBytes + len(s.byKey)*mapEntry + cap(s.terminals)*int(unsafe.Sizeof(terminal{}))
}

func (q *requests) memory() int {
	return q.table.memory() + cap(q.queues)*int(unsafe.Sizeof(requestQueue{})) + cap(q.live)*int(unsafe.Sizeof(liveRequest{})) +
		cap(q.creators)*int(unsafe.Sizeof(creator{})) + q.keyBytes + len(q.byKey)*mapEntry + cap(q.ids)*(8+8+4)
}

func (t *rawTable) memory() int { return 12 * len(t.keys) }

func (s *sites) memory() int {
	const site = 120 // trace.Site, whose texts are shared
	return s.byAddress.memory() + len(s.list)*(site+2*site)
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
