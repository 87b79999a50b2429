package criticalpath

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// A wait is what the walk needs of a wait state.
type wait struct {
	begin, end int64
	cause      int32
	kind       waitstate.Kind
}

// A waitLog holds the wait states of one location in program order, some 8 bytes each: they are what the memory of the
// analysis grows with. Chunks can be read from the back, as the walk does.
type waitLog struct {
	chunks []waitChunk
	count  int
	total  int64 // ns waited
}

// chunkWaits is how many waits a chunk holds: large enough that its header does not count, small enough that a
// decoded one per location is nothing.
const chunkWaits = 256

// A waitChunk is a run of waits, varints relative to the one before.
type waitChunk struct {
	base  int64
	count int
	bytes []byte
	last  int64 // end of the last wait
	cause int32
}

func (l *waitLog) add(w wait) {
	if n := len(l.chunks); n == 0 || l.chunks[n-1].count == chunkWaits {
		if n > 0 {
			c := &l.chunks[n-1]
			c.bytes = append(make([]byte, 0, len(c.bytes)), c.bytes...)
		}
		l.chunks = append(l.chunks, waitChunk{base: w.begin, last: w.begin})
	}
	c := &l.chunks[len(l.chunks)-1]
	c.bytes = binary.AppendVarint(c.bytes, w.begin-c.last)
	c.bytes = binary.AppendUvarint(c.bytes, uint64(w.end-w.begin))
	c.bytes = binary.AppendVarint(c.bytes, int64(w.cause-c.cause))
	c.bytes = append(c.bytes, byte(w.kind))
	c.last, c.cause = w.end, w.cause
	c.count++
	l.count++
	l.total += w.end - w.begin
}

// decode appends the waits of a chunk.
func (c *waitChunk) decode(waits []wait) []wait {
	last, cause, b := c.base, int32(0), c.bytes
	for range c.count {
		begin, n := binary.Varint(b)
		b = b[n:]
		length, n := binary.Uvarint(b)
		b = b[n:]
		to, n := binary.Varint(b)
		b = b[n:]
		cause += int32(to)
		w := wait{begin: last + begin, cause: cause, kind: waitstate.Kind(b[0])}
		w.end = w.begin + int64(length)
		b = b[1:]
		last = w.end
		waits = append(waits, w)
	}
	return waits
}

// forwardWaits reads a log in order, one at a time.
type forwardWaits struct {
	log   *waitLog
	chunk int
	waits []wait
	next  int
}

func (f *forwardWaits) peek() *wait {
	for f.next == len(f.waits) {
		if f.chunk == len(f.log.chunks) {
			return nil
		}
		f.waits = f.log.chunks[f.chunk].decode(f.waits[:0])
		f.chunk, f.next = f.chunk+1, 0
	}
	return &f.waits[f.next]
}

// backwardWaits reads a log from its end. It only ever moves back, which is why the walk ends.
type backwardWaits struct {
	log   *waitLog
	chunk int // chunks before this one are not decoded yet
	waits []wait
}

func (l *waitLog) backward() backwardWaits { return backwardWaits{log: l, chunk: len(l.chunks)} }

// before takes the last wait that began before t, nil if none is left.
func (b *backwardWaits) before(t int64) *wait {
	for {
		for n := len(b.waits); n > 0; n = len(b.waits) {
			w := &b.waits[n-1]
			b.waits = b.waits[:n-1]
			if w.begin < t {
				return w
			}
		}
		if b.chunk == 0 {
			return nil
		}
		b.chunk--
		b.waits = b.log.chunks[b.chunk].decode(b.waits[:0])
	}
}
