package repeat

import "github.com/cairn-mpi/cairn/tracer/recorder/record"

// A Position is a word of one of a thread's buffers.
type Position struct{ Buffer, At int }

// record returns the record at a position, which it moves on to the next buffer where one ends.
// size is 0 if there is none.
func (p *Position) record(buffers []*record.Buffer, composer *record.Composer) (rec record.Record, size int) {
	for {
		b := buffers[p.Buffer]
		rec, size = b.At(p.At, composer)
		if size > 0 || p.At < b.Available() || p.Buffer == len(buffers)-1 {
			return rec, size
		}
		*p = Position{p.Buffer + 1, record.BufferHeaderWords}
	}
}

// atEnd reports whether a position is behind all records so far.
func (p *Position) atEnd(buffers []*record.Buffer) bool {
	return p.Buffer == len(buffers)-1 && p.At >= buffers[p.Buffer].Available()
}
