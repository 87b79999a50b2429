package matching

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// A Wait is what the walk needs of a wait state.
type Wait struct {
	Begin, End int64
	Came       int64 // see waitstate.State
	Cause      int32
	Kind       waitstate.Kind
}

// cameLater is in the byte of the kind where came is not end.
const cameLater = 1 << 7

// A WaitLog holds the wait states of one location in program order, some 8 bytes each, which a spool keeps. Chunks can be
// read from the back, as the walk does. A wait is varints relative to the one before in its chunk.
type WaitLog struct {
	spool  *eventlog.Spool
	most   int // waits of a chunk
	chunks []eventlog.Chunk
	open   []byte // of the chunk that is not full,
	held   int    // how many waits it has,
	last   int64  // when the last of them ended,
	cause  int32  // and for whom it was
}

// ChunkWaits is how many waits, or stretches of the path, a chunk of each of n locations holds: so many that to know where
// the chunks are takes nothing, so few that a decoded one of each location does not either.
func ChunkWaits(n int) int { return max(256, min(4096, 1<<18/max(1, n))) }

func newWaitLog(spool *eventlog.Spool, n int) WaitLog {
	return WaitLog{spool: spool, most: ChunkWaits(n)}
}

func (l *WaitLog) add(w Wait) {
	l.open = binary.AppendVarint(l.open, w.Begin-l.last)
	l.open = binary.AppendUvarint(l.open, uint64(w.End-w.Begin))
	l.open = binary.AppendVarint(l.open, int64(w.Cause-l.cause))
	if w.Came > w.End {
		l.open = append(l.open, byte(w.Kind)|cameLater)
		l.open = binary.AppendUvarint(l.open, uint64(w.Came-w.End))
	} else {
		l.open = append(l.open, byte(w.Kind))
	}
	l.last, l.cause = w.End, w.Cause
	if l.held++; l.held == l.most {
		l.close()
	}
}

// close completes the last chunk.
func (l *WaitLog) close() {
	if len(l.open) > 0 {
		l.chunks = append(l.chunks, l.spool.Put(l.open))
		l.open, l.held, l.last, l.cause = l.open[:0], 0, 0, 0
	}
}

// decode appends the waits of a chunk. The spool has the error if they cannot be read.
func (l *WaitLog) decode(chunk int, waits []Wait) []Wait {
	b, err := l.spool.Get(l.chunks[chunk], nil)
	if err != nil {
		return waits
	}
	last, cause := int64(0), int32(0)
	for len(b) > 0 {
		begin, n := binary.Varint(b)
		b = b[n:]
		length, n := binary.Uvarint(b)
		b = b[n:]
		to, n := binary.Varint(b)
		b = b[n:]
		cause += int32(to)
		w := Wait{Begin: last + begin, Cause: cause, Kind: waitstate.Kind(b[0] &^ cameLater)}
		w.End = w.Begin + int64(length)
		w.Came = w.End
		later := b[0]&cameLater != 0
		b = b[1:]
		if later {
			by, n := binary.Uvarint(b)
			b = b[n:]
			w.Came += int64(by)
		}
		last = w.End
		waits = append(waits, w)
	}
	return waits
}

// ForwardWaits reads a log in order, one at a time.
type ForwardWaits struct {
	Log   *WaitLog
	chunk int
	waits []Wait
	Next  int
}

// Peek is the next wait state; nil: there is none.
func (f *ForwardWaits) Peek() *Wait {
	for f.Next == len(f.waits) {
		if f.chunk == len(f.Log.chunks) {
			return nil
		}
		f.waits = f.Log.decode(f.chunk, f.waits[:0])
		f.chunk, f.Next = f.chunk+1, 0
	}
	return &f.waits[f.Next]
}

// BackwardWaits reads a log from its end. It only ever moves back, which is why the walk ends.
type BackwardWaits struct {
	log   *WaitLog
	chunk int // chunks before this one are not decoded yet
	waits []Wait
}

// Backward reads the wait states from the last one on.
func (l *WaitLog) Backward() BackwardWaits { return BackwardWaits{log: l, chunk: len(l.chunks)} }

// Before takes the last wait that began before t, nil if none is left.
func (b *BackwardWaits) Before(t int64) *Wait {
	for {
		for n := len(b.waits); n > 0; n = len(b.waits) {
			w := &b.waits[n-1]
			b.waits = b.waits[:n-1]
			if w.Begin < t {
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
