package route

import (
	"encoding/binary"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
)

// A Stretch is a piece of the path on a location, from when to when.
type Stretch struct {
	Start, End int64
}

// A StretchLog holds the stretches of one location, some 5 bytes each, which a spool keeps. The walk finds the latest one
// first; they are read from the earliest one on. A stretch is varints relative to the one after it in its chunk.
type StretchLog struct {
	spool  *eventlog.Spool
	most   int // stretches of a chunk
	chunks []eventlog.Chunk
	open   []byte  // of the chunk that is not full,
	held   int     // how many stretches it has,
	after  int64   // and when the earliest of them begins
	latest Stretch // found, which the next one may continue; none if it is empty
	ns     int64   // of all
}

func newStretchLog(spool *eventlog.Spool, n int) StretchLog {
	return StretchLog{spool: spool, most: matching.ChunkWaits(n)}
}

// add takes the stretch before those so far, and reports whether there is a gap between them.
func (l *StretchLog) add(s Stretch) bool {
	l.ns += s.End - s.Start
	if l.latest != (Stretch{}) && l.latest.Start == s.End {
		l.latest.Start = s.Start
		return false
	}
	l.write()
	l.latest = s
	return true
}

// write notes that nothing continues the latest stretch.
func (l *StretchLog) write() {
	if l.latest == (Stretch{}) {
		return
	}
	l.open = binary.AppendVarint(l.open, l.after-l.latest.End)
	l.open = binary.AppendUvarint(l.open, uint64(l.latest.End-l.latest.Start))
	l.after = l.latest.Start
	if l.held++; l.held == l.most {
		l.close()
	}
}

// close completes the last chunk.
func (l *StretchLog) close() {
	if len(l.open) > 0 {
		l.chunks = append(l.chunks, l.spool.Put(l.open))
		l.open, l.held, l.after = l.open[:0], 0, 0
	}
}

// finish notes that the walk has ended.
func (l *StretchLog) finish() {
	l.write()
	l.close()
	l.open, l.latest = nil, Stretch{}
}

// ForwardStretches reads a log in order of time. The spool has the error if it cannot be read.
type ForwardStretches struct {
	log       *StretchLog
	chunk     int // those before this one are still to come
	stretches []Stretch
	Next      int
}

// Forward reads the stretches in the order of time.
func (l *StretchLog) Forward() ForwardStretches {
	return ForwardStretches{log: l, chunk: len(l.chunks)}
}

// Peek is the next stretch; nil: there is none.
func (f *ForwardStretches) Peek() *Stretch {
	for f.Next == len(f.stretches) {
		if f.chunk == 0 {
			return nil
		}
		f.chunk--
		f.stretches, f.Next = f.log.decode(f.chunk, f.stretches[:0]), 0
	}
	return &f.stretches[f.Next]
}

// decode appends the stretches of a chunk, the earliest one first.
func (l *StretchLog) decode(chunk int, list []Stretch) []Stretch {
	b, err := l.spool.Get(l.chunks[chunk], nil)
	if err != nil {
		return list
	}
	for after := int64(0); len(b) > 0; {
		gap, n := binary.Varint(b)
		b = b[n:]
		length, n := binary.Uvarint(b)
		b = b[n:]
		end := after - gap
		after = end - int64(length)
		list = append(list, Stretch{after, end})
	}
	slices.Reverse(list)
	return list
}
