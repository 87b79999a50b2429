package parquet

import (
	"encoding/binary"
	"errors"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
)

// waited passes the waiting times of calls from the pass that computes them to the one that writes
// calls: per location, in program order, in a spool.
type waited struct {
	spool *eventlog.Spool
	logs  []waitedLog
	chunk int
}

type waitedLog struct {
	last   uint64 // the latest call
	tail   []byte
	chunks []eventlog.Chunk
}

// spoolMemory is the memory of a spool, in bytes.
const spoolMemory = 64 << 20

func newWaited(locations int) *waited {
	return &waited{
		spool: eventlog.NewSpool(spoolMemory), logs: make([]waitedLog, locations),
		chunk: max(256, min(1<<14, 1<<23/max(1, locations))),
	}
}

func (w *waited) close() { w.spool.Close() }

// add records the waiting time of a call. Calls of a location come in order; the same one may come
// again.
func (w *waited) add(location int, index uint64, ns int64) {
	l := &w.logs[location]
	l.tail = binary.AppendUvarint(l.tail, index-l.last)
	l.tail = binary.AppendVarint(l.tail, ns)
	if l.last = index; len(l.tail) >= w.chunk {
		l.flush(w.spool)
	}
}

func (l *waitedLog) flush(to *eventlog.Spool) {
	if len(l.tail) > 0 {
		l.chunks = append(l.chunks, to.Put(l.tail))
		l.tail = l.tail[:0]
	}
}

// finish ends the recording.
func (w *waited) finish() {
	for i := range w.logs {
		w.logs[i].flush(w.spool)
		w.logs[i].tail = nil
	}
}

// of returns the waiting times of a location.
func (w *waited) of(location int) (*waits, error) {
	r := &waits{from: w, chunks: w.logs[location].chunks}
	r.next()
	return r, r.err
}

// waits are the waiting times of one location.
type waits struct {
	from   *waited
	chunks []eventlog.Chunk
	buffer []byte
	rest   []byte
	index  uint64 // of the next call that waited
	ns     int64  // its waiting time
	some   bool
	err    error
}

// next moves to the next call that waited.
func (r *waits) next() {
	r.some = false
	if len(r.rest) == 0 {
		if len(r.chunks) == 0 {
			return
		}
		if r.rest, r.err = r.from.spool.Get(r.chunks[0], r.buffer); r.err != nil {
			return
		}
		r.buffer, r.chunks = r.rest, r.chunks[1:]
	}
	delta, n := binary.Uvarint(r.rest)
	ns, k := binary.Varint(r.rest[max(0, n):])
	if n <= 0 || k <= 0 {
		r.err = errors.New("what was written to a temporary file is not what was read back")
		return
	}
	r.index, r.ns, r.some, r.rest = r.index+delta, ns, true, r.rest[n+k:]
}

// at returns the waiting time of a call. Calls must be queried in order.
func (r *waits) at(index uint64) (ns int64) {
	for r.some && r.index <= index {
		if r.index == index {
			ns += r.ns
		}
		r.next()
	}
	return ns
}
