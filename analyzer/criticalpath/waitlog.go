package criticalpath

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/analyzer/journal"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// A wait is what the walk needs of a wait state.
type wait struct {
	begin, end int64
	came       int64 // see waitstate.State
	cause      int32
	kind       waitstate.Kind
}

// cameLater is in the byte of the kind where came is not end.
const cameLater = 1 << 7

// A waitLog holds the wait states of one location in program order, some 8 bytes each, which a spool keeps. Chunks can be
// read from the back, as the walk does.
type waitLog struct {
	spool  *journal.Spool
	chunks []waitChunk
	open   []byte // of the last chunk, if it is not full
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
	bytes journal.Chunk // once it is full
	last  int64         // end of the last wait
	cause int32
}

func (l *waitLog) add(w wait) {
	if len(l.open) == 0 {
		l.chunks = append(l.chunks, waitChunk{base: w.begin, last: w.begin})
	}
	c := &l.chunks[len(l.chunks)-1]
	l.open = binary.AppendVarint(l.open, w.begin-c.last)
	l.open = binary.AppendUvarint(l.open, uint64(w.end-w.begin))
	l.open = binary.AppendVarint(l.open, int64(w.cause-c.cause))
	if w.came > w.end {
		l.open = append(l.open, byte(w.kind)|cameLater)
		l.open = binary.AppendUvarint(l.open, uint64(w.came-w.end))
	} else {
		l.open = append(l.open, byte(w.kind))
	}
	c.last, c.cause = w.end, w.cause
	if c.count++; c.count == chunkWaits {
		l.close()
	}
	l.count++
	l.total += w.end - w.begin
}

// close completes the last chunk.
func (l *waitLog) close() {
	if len(l.open) > 0 {
		l.chunks[len(l.chunks)-1].bytes = l.spool.Put(l.open)
		l.open = l.open[:0]
	}
}

// decode appends the waits of a chunk. The spool has the error if they cannot be read.
func (l *waitLog) decode(chunk int, waits []wait) []wait {
	c := &l.chunks[chunk]
	b, err := l.spool.Get(c.bytes, nil)
	if err != nil {
		return waits
	}
	last, cause := c.base, int32(0)
	for range c.count {
		begin, n := binary.Varint(b)
		b = b[n:]
		length, n := binary.Uvarint(b)
		b = b[n:]
		to, n := binary.Varint(b)
		b = b[n:]
		cause += int32(to)
		w := wait{begin: last + begin, cause: cause, kind: waitstate.Kind(b[0] &^ cameLater)}
		w.end = w.begin + int64(length)
		w.came = w.end
		later := b[0]&cameLater != 0
		b = b[1:]
		if later {
			by, n := binary.Uvarint(b)
			b = b[n:]
			w.came += int64(by)
		}
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
		f.waits = f.log.decode(f.chunk, f.waits[:0])
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
		b.waits = b.log.decode(b.chunk, b.waits[:0])
	}
}
