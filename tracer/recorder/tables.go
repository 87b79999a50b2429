package recorder

import "github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"

// The tables of a recorder grow with distinct entries: signatures, call sites, requests, objects,
// communicators, and the values that are not in a block yet. A checkpoint writes only their changes
// since the previous checkpoint (table_log.go). Writing everything is the same operation with
// nothing written before.
//
// Most tables only grow, so they keep the number of their written entries. Value streams record how
// much of them was written, and package identity which objects have changed.

// AppendTables appends the changes since its last call, or everything. They count as
// written from then on.
func (r *Recorder) AppendTables(b []byte, everything bool) []byte {
	e := &checkpoint.Encoder{Buffer: b}
	r.sites.Encode(e, everything)
	r.keys.Encode(e, everything)
	r.objects.EncodeTables(e, everything)
	e.Uint(uint64(len(r.threads)))
	for _, t := range r.threads {
		t.streams.Encode(e, everything)
	}
	return e.Buffer
}

// applyTables applies the result of AppendTables. completeTables must follow the last call.
func (r *Recorder) applyTables(b []byte) error {
	d := &checkpoint.Decoder{Rest: b}
	r.sites.Decode(d)
	r.keys.Decode(d)
	r.objects.DecodeTables(d)
	for i := range d.Count() {
		if i == len(r.threads) {
			r.threads = append(r.threads, newThread(r))
		}
		r.threads[i].streams.Decode(d, r.keys.Len())
	}
	if d.Failed || len(d.Rest) > 0 {
		return ErrCheckpoint
	}
	return nil
}

// completeTables derives the state that follows from the tables, and checks that they are complete.
func (r *Recorder) completeTables() error {
	if !r.keys.Complete() {
		return ErrCheckpoint
	}
	r.objects.CompleteTables()
	for _, t := range r.threads {
		if !t.streams.Complete() {
			return ErrCheckpoint
		}
	}
	return nil
}
