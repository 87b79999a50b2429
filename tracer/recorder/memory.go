package recorder

import (
	"unsafe"

	"github.com/cairn-mpi/cairn/trace"
)

// memoryLimit is what a recorder may hold, a few percent of what a rank of an HPC job has: nodes have 2 GiB and more for each
// core. Before it is reached the recorder generalizes (memory_limit.go).
const memoryLimit = 32 << 20

// What an entry of a table takes beyond its text: the table's slot at the usual load, and what rounding up to a size class of
// the allocator adds.
const (
	mapEntry  = 48
	textBytes = 12
)

// memory estimates what the recorder holds: the tables that grow with what is new, grammars, streams, and times that are in no
// file yet. TestMemoryEstimate compares it with the heap.
func (r *Recorder) memory() int {
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
		n += int(unsafe.Sizeof(*b)) + cap(b.data[0]) + cap(b.data[1])
	}
	for _, t := range r.threads {
		n += t.memory()
	}
	return n
}

// mergedSymbol is what a symbol of a grammar takes of memory while a shard is made of it: as the recorder's, as the trace's and as
// the merged one's, with what finds equal ones.
const mergedSymbol = 80

// traceMemory estimates what a trace takes that was made of the recorder, together with what a merge makes of it.
func (r *Recorder) traceMemory(c *trace.Content) int64 {
	n := r.memory()
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
