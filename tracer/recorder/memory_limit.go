package recorder

import (
	"unsafe"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/key"
)

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
	level := key.KeepsEverything
	switch n, limit := r.decisive(), r.Limits.Memory; {
	case n >= limit:
		level = key.DropsArguments
	case n >= limit/4*3:
		level = key.DropsTexts
	case n >= limit/2:
		level = key.WidensEarly
	}
	r.keys.Generalize(max(level, r.keys.Generality()))
}

// memoryLimit is the default memory limit of a recorder: a few percent of the memory of an HPC
// rank, since nodes have 2 GiB and more per core. The recorder generalizes before it reaches the
// limit (key.Generality).
const memoryLimit = 32 << 20

// Memory estimates the memory of the recorder in bytes: tables, grammars, streams, times that have
// not been written to a file, and the dictionary. TestMemoryEstimate compares it with the heap.
func (r *Recorder) Memory() int { return r.decisive() + r.sites.Dictionary.Memory() }

// decisive is Memory without the dictionary, which a recovery finds longer than the recorder did:
// both must generalize at the same records.
func (r *Recorder) decisive() int {
	n := r.keys.Memory() + r.objects.Memory() + r.sites.Memory() + r.repeats.Memory()
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

func (t *thread) memory() int {
	return t.grammar.Bytes() + cap(t.gaps.b) + cap(t.durations.b) + t.streams.Memory() + t.repeats.Memory()
}
