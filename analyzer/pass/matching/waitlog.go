package matching

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// A Wait is the part of a wait state that the walk along the critical path needs.
type Wait struct {
	Begin, End int64
	Came       int64 // see waitstate.State
	Cause      int32
	Kind       waitstate.Kind
}

// cameLater is a flag in the kind's byte: Came differs from End.
const cameLater = 1 << 7

// A WaitLog is the wait states of one location in program order, about 8 bytes each, stored in a
// spool. Chunks can be read backward, as the walk does. A wait is encoded as varints relative to
// the previous one of its chunk.
type WaitLog struct {
	spool  *eventlog.Spool
	most   int // max. waits of a chunk
	chunks []eventlog.Chunk
	open   []byte // data of the current chunk
	held   int    // number of waits in it
	last   int64  // end of its last wait
	cause  int32  // cause of its last wait
}

// ChunkWaits returns the number of waits, or stretches of the path, per chunk for n locations:
// enough that the list of chunks is small, few enough that one decoded chunk of each location is
// small, too.
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

// decode appends the waits of a chunk. If they cannot be read, the spool has the error.
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

// ForwardWaits reads a log in order.
type ForwardWaits struct {
	Log   *WaitLog
	chunk int
	waits []Wait
	Next  int
}

// Peek returns the next wait state, nil if there is none.
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

// BackwardWaits reads a log from its end. It only moves backward, which guarantees that the walk
// terminates.
type BackwardWaits struct {
	log   *WaitLog
	chunk int // chunks before this one are not decoded yet
	waits []Wait
}

// Backward returns a reader that starts at the last wait state.
func (l *WaitLog) Backward() BackwardWaits { return BackwardWaits{log: l, chunk: len(l.chunks)} }

// Before removes and returns the last remaining wait that began before t, nil if there is none.
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
