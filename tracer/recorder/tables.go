package recorder

import (
	"math"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
)

// The tables of a recorder grow with distinct entries: signatures, call sites, requests, objects,
// communicators, and the values that are not in a block yet. A checkpoint writes only their changes
// since the previous checkpoint (table_log.go). Writing everything is the same operation with
// nothing written before.
//
// Most tables only grow, so the number of written entries is enough. Value streams record how much
// of them was written, and package identity which objects have changed.

// writtenTables is the size of the tables when they were last written.
type writtenTables struct {
	sites, signatures int
}

// AppendTables appends the changes since its last call, or everything. They count as
// written from then on.
func (r *Recorder) AppendTables(b []byte, everything bool) []byte {
	if everything {
		r.written = writtenTables{}
	}
	e := &checkpoint.Encoder{Buffer: b}
	r.sites.encodeNew(e, r.written.sites)
	r.signatures.encodeNew(e, r.written.signatures)
	r.objects.EncodeTables(e, everything)
	e.Uint(uint64(len(r.threads)))
	for _, t := range r.threads {
		t.encodeResults(e, everything)
	}
	r.written = writtenTables{len(r.sites.list), len(r.signatures.terminals)}
	return e.Buffer
}

// applyTables applies the result of AppendTables. completeTables must follow the last call.
func (r *Recorder) applyTables(b []byte) error {
	d := &checkpoint.Decoder{Rest: b}
	r.sites.decodeNew(d)
	r.signatures.decodeNew(d)
	r.objects.DecodeTables(d)
	for i := range d.Count() {
		if i == len(r.threads) {
			r.threads = append(r.threads, r.newThread())
		}
		r.threads[i].decodeResults(d, len(r.signatures.terminals))
	}
	if d.Failed || len(d.Rest) > 0 {
		return ErrCheckpoint
	}
	return nil
}

// completeTables derives the state that follows from the tables, and checks that they are complete.
func (r *Recorder) completeTables() error {
	for i := range r.signatures.terminals {
		t := &r.signatures.terminals[i]
		if t.request == none {
			continue
		}
		// the key of a creating signature is stored at its creator
		key, ok := r.objects.Requests.SetTerminal(t.request, int32(i))
		if !ok {
			return ErrCheckpoint
		}
		t.key = key
	}
	for key := range r.signatures.byKey {
		r.countKnown(key)
	}
	for key := range r.objects.Requests.Keys() {
		r.countKnown(key)
	}
	r.objects.CompleteTables()
	for _, t := range r.threads {
		if !t.completeResults() {
			return ErrCheckpoint
		}
	}
	return nil
}

func (s *sites) encodeNew(e *checkpoint.Encoder, from int) {
	e.Uint(uint64(len(s.list) - from))
	for _, site := range s.list[from:] {
		e.Text(site.BuildID)
		e.Text(site.Module)
		e.Uint(site.Offset)
		e.Uint(uint64(site.Caller))
		e.Text(site.Function) // of a line; other functions are resolved later
		e.Text(site.File)
		e.Uint(uint64(site.Line))
	}
}

func (s *sites) decodeNew(d *checkpoint.Decoder) {
	for range d.Count() {
		s.intern(trace.Site{BuildID: d.Text(), Module: d.Text(), Offset: d.Uint(), Caller: uint32(d.Uint()),
			Function: d.Text(), File: d.Text(), Line: int(d.Uint())})
	}
}

func (s *signatures) encodeNew(e *checkpoint.Encoder, from int) {
	e.Uint(uint64(len(s.terminals) - from))
	for _, t := range s.terminals[from:] {
		e.Int(int64(t.request))
		if t.request == none {
			e.Text(t.key)
		}
	}
}

func (s *signatures) decodeNew(d *checkpoint.Decoder) {
	for range d.Count() {
		t := terminal{request: int32(d.Int())}
		if t.request == none {
			t.key = d.Text()
			s.byKey[t.key] = int32(len(s.terminals))
			s.keyBytes += len(t.key) + identity.TextBytes
		}
		s.terminals = append(s.terminals, t)
	}
}

// encodeResults writes the value streams of terminals that were called since the last time: the new
// runs of each stream and its last run, which may have become longer.
func (t *thread) encodeResults(e *checkpoint.Encoder, everything bool) {
	changed := 0
	for i := range t.results {
		if rs := &t.results[i]; rs.settle() && (everything || rs.streams[0].n != rs.written) {
			changed++
		}
	}
	e.Uint(uint64(changed))
	for number := range t.results {
		rs := &t.results[number]
		if len(rs.streams) == 0 || !everything && rs.streams[0].n == rs.written {
			continue
		}
		e.Uint(uint64(number))
		e.Uint(uint64(len(rs.streams)))
		for i := range rs.streams {
			s := &rs.streams[i]
			if everything {
				s.written = 0
			}
			e.Uint(s.inBlocks)
			e.Uint(s.n - s.inBlocks)
			e.Uint(uint64(s.written))
			e.Bytes(s.encoded(s.written))
			s.written = int32(len(s.runs))
		}
		rs.written = rs.streams[0].n
	}
}

func (t *thread) decodeResults(d *checkpoint.Decoder, terminals int) {
	for range d.Count() {
		number, n := d.Uint(), d.Count()
		if number >= uint64(terminals) || n == 0 {
			d.Fail()
			return
		}
		rs := t.resultsOf(int32(number))
		if len(rs.streams) == 0 {
			rs.streams = make([]stream, n)
		}
		if len(rs.streams) != n {
			d.Fail()
			return
		}
		for i := range rs.streams {
			s := &rs.streams[i]
			inBlocks, inMemory, kept, runs := d.Uint(), d.Uint(), d.Uint(), d.Bytes()
			if inBlocks > math.MaxInt64 || inMemory > math.MaxInt64 || kept > uint64(len(s.runs)) {
				d.Fail()
				return
			}
			s.inBlocks, s.n = inBlocks, inBlocks+inMemory
			s.runs = append(s.runs[:kept], runs...)
		}
	}
}

// completeResults separates the last run of each stream, which may grow, from the others.
func (t *thread) completeResults() bool {
	for i := range t.results {
		for k := range t.results[i].streams {
			s := &t.results[i].streams[k]
			whole, ok := decodeStream(s.runs, s.n-s.inBlocks)
			if !ok {
				return false
			}
			whole.inBlocks, whole.n = s.inBlocks, s.n
			*s = whole
		}
	}
	return true
}
