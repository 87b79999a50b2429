package route

import (
	"encoding/binary"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
)

// A Stretch is an interval of the path on a location.
type Stretch struct {
	Start, End int64
}

// A StretchLog is the stretches of one location, about 5 bytes each, stored in a spool. The walk
// finds the latest one first; they are read earliest first. A stretch is encoded as varints
// relative to the following one of its chunk.
type StretchLog struct {
	spool  *eventlog.Spool
	most   int // max. stretches of a chunk
	chunks []eventlog.Chunk
	open   []byte  // data of the current chunk
	held   int     // number of stretches in it
	after  int64   // start of its earliest stretch
	latest Stretch // last one found, which the next one may extend; empty: none
	ns     int64   // total
}

func newStretchLog(spool *eventlog.Spool, n int) StretchLog {
	return StretchLog{spool: spool, most: matching.ChunkWaits(n)}
}

// add adds the stretch before those so far, and reports whether there is a gap between them.
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

// write stores the latest stretch, which nothing extends any more.
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

// finish completes the log after the walk.
func (l *StretchLog) finish() {
	l.write()
	l.close()
	l.open, l.latest = nil, Stretch{}
}

// ForwardStretches reads a log in order of time. If it cannot be read, the spool has the error.
type ForwardStretches struct {
	log       *StretchLog
	chunk     int // chunks before this one are not decoded yet
	stretches []Stretch
	Next      int
}

// Forward returns a reader that starts at the earliest stretch.
func (l *StretchLog) Forward() ForwardStretches {
	return ForwardStretches{log: l, chunk: len(l.chunks)}
}

// Peek returns the next stretch, nil if there is none.
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
