package accounts

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
)

// A pieceLog is the pieces of the path on one location, in order of time, about 6 bytes each,
// stored in a spool. Short neighbors are merged when they are added. A piece is encoded as varints
// relative to the previous one of its chunk.
type pieceLog struct {
	spool   *eventlog.Spool
	limit   int64 // pieces shorter than this are merged
	size    int   // approximate size of chunks, in bytes
	chunks  []eventlog.Chunk
	open    []byte // data of the current chunk
	end     int64  // end of its last piece
	last    Piece  // which the next one may extend; empty: none
	what    []doing
	numbers map[doing]int // indices into what
}

// doing is what a location does in a piece.
type doing struct {
	kind Kind
	what Activity
}

func newPieceLog(spool *eventlog.Spool, n int, limit int64) pieceLog {
	return pieceLog{spool: spool, limit: limit, size: max(256, min(1<<14, 1<<23/n)), numbers: map[doing]int{}}
}

// add adds the next piece.
func (l *pieceLog) add(p Piece) {
	if p.Merged == 0 {
		p.longest = p.End - p.Start
	}
	if l.last.End == p.Start && l.last.End > l.last.Start && l.last.absorb(p, l.limit) {
		return
	}
	l.write()
	l.last = p
}

// write stores the last piece, which nothing extends any more.
func (l *pieceLog) write() {
	p := &l.last
	if p.End == p.Start {
		return
	}
	d := doing{p.Kind, p.What}
	number, known := l.numbers[d]
	if !known {
		number = len(l.what)
		l.numbers[d], l.what = number, append(l.what, d)
	}
	header := uint64(number) << 1
	if p.Merged > 0 {
		header |= 1
	}
	l.open = binary.AppendUvarint(l.open, header)
	l.open = binary.AppendVarint(l.open, p.Start-l.end)
	l.open = binary.AppendUvarint(l.open, uint64(p.End-p.Start))
	if p.Merged > 0 {
		l.open = binary.AppendUvarint(l.open, uint64(p.Merged))
		l.open = binary.AppendUvarint(l.open, uint64(p.longest))
	}
	if l.end = p.End; len(l.open) >= l.size {
		l.close()
	}
}

// close completes the last chunk.
func (l *pieceLog) close() {
	if len(l.open) > 0 {
		l.chunks = append(l.chunks, l.spool.Put(l.open))
		l.open, l.end = l.open[:0], 0
	}
}

// finish completes the log.
func (l *pieceLog) finish() {
	l.write()
	l.close()
	l.open, l.last, l.numbers = nil, Piece{}, nil
}

// A pieceReader reads a log in order. If it cannot be read, the spool has the error.
type pieceReader struct {
	piece    Piece // current piece
	log      *pieceLog
	location int
	chunk    int // next chunk
	b        []byte
	end      int64
}

func (l *pieceLog) read(location int) *pieceReader { return &pieceReader{log: l, location: location} }

// next advances to the next piece and reports whether there is one.
func (r *pieceReader) next() bool {
	for len(r.b) == 0 {
		if r.chunk == len(r.log.chunks) {
			return false
		}
		var err error
		if r.b, err = r.log.spool.Get(r.log.chunks[r.chunk], nil); err != nil {
			return false
		}
		r.chunk++
		r.end = 0
	}
	header := r.unsigned()
	start, n := binary.Varint(r.b)
	r.b = r.b[n:]
	d := &r.log.what[header>>1]
	p := Piece{Start: r.end + start, Location: r.location, Kind: d.kind, What: d.what}
	p.longest = int64(r.unsigned())
	p.End = p.Start + p.longest
	if header&1 != 0 {
		p.Merged = int(r.unsigned())
		p.longest = int64(r.unsigned())
	}
	r.piece, r.end = p, p.End
	return true
}

func (r *pieceReader) unsigned() uint64 {
	v, n := binary.Uvarint(r.b)
	r.b = r.b[n:]
	return v
}
