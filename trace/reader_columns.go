package trace

import "github.com/cairn-mpi/cairn/trace/codec"

// Columns are the values that differ from rank to rank (forms Column and Elastic with Cases): number `place` of column k is that
// of the thread with this Place.
func (t *Reader) Columns() []codec.Numbers { return t.shared.Columns }

// ValueOn is what an argument is on one thread, its position in Threads: Int or Name where v follows from the thread or
// from own, the caller's rank in the communicator of the call (−1: not known). Streams stay as they are.
func (t *Reader) ValueOn(v Value, thread, own int) (Value, error) {
	p := place{columns: t.shared.Columns, index: int(t.shared.Threads.place.At(thread)), rank: int64(own), known: own >= 0}
	return p.evaluate(v)
}
