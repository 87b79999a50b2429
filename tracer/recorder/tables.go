package recorder

import (
	"maps"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
)

// The tables of a recorder grow with distinct entries: signatures, call sites, requests, objects,
// communicators, and the values that are not in a block yet. A checkpoint writes only their changes
// since the previous checkpoint (table_log.go). Writing everything is the same operation with
// nothing written before.
//
// Most tables only grow, so the number of written entries is enough. Objects come and go, so the
// changed ones are listed. Value streams record how much of them was written.

// writtenTables is the size of the tables when they were last written.
type writtenTables struct {
	sites, signatures, creators, requests, instances int
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
	r.requests.encodeNew(e, r.written.creators, r.written.requests)
	for _, kind := range mpi.Kinds() {
		if h := r.handles[kind]; h != nil {
			h.encodeChanged(e, everything)
		}
	}
	r.communicators.encodeNew(e, r.written.instances, everything)
	e.Uint(uint64(len(r.threads)))
	for _, t := range r.threads {
		t.encodeResults(e, everything)
	}
	r.written = writtenTables{
		len(r.sites.list), len(r.signatures.terminals), len(r.requests.creators), len(r.requests.ids), len(r.communicators.instances),
	}
	return e.Buffer
}

// applyTables applies the result of AppendTables. completeTables must follow the last call.
func (r *Recorder) applyTables(b []byte) error {
	d := &checkpoint.Decoder{Rest: b}
	r.sites.decodeNew(d)
	r.signatures.decodeNew(d)
	r.requests.decodeNew(d)
	for _, kind := range mpi.Kinds() {
		if h := r.handles[kind]; h != nil {
			h.decodeChanged(d)
		}
	}
	r.communicators.decodeNew(d)
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
	q := r.requests
	for i := range r.signatures.terminals {
		t := &r.signatures.terminals[i]
		if t.request == none {
			continue
		}
		if t.request < 0 || int(t.request) >= len(q.ids) {
			return ErrCheckpoint
		}
		id := q.ids[t.request]
		c := &q.creators[id.creator]
		t.key = c.key // the key of a creating signature is stored at its creator
		c.slots[id.index].terminal = int32(i)
	}
	for key := range r.signatures.byKey {
		r.countKnown(key)
	}
	for key := range q.byKey {
		r.countKnown(key)
	}
	for _, h := range r.handles {
		if h != nil {
			h.complete()
		}
	}
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
			s.keyBytes += len(t.key) + textBytes
		}
		s.terminals = append(s.terminals, t)
	}
}

// encodeNew writes new creators, and the creator of each new request id. The ids are the slots of a
// creator in order. Which of them are live is in the state.
func (q *requests) encodeNew(e *checkpoint.Encoder, creators, ids int) {
	e.Uint(uint64(len(q.creators) - creators))
	for i := range q.creators[creators:] {
		e.Text(q.creators[creators+i].key)
	}
	e.Uint(uint64(len(q.ids) - ids))
	for _, id := range q.ids[ids:] {
		e.Uint(uint64(id.creator))
	}
}

func (q *requests) decodeNew(d *checkpoint.Decoder) {
	for range d.Count() {
		q.creatorOf(d.Bytes())
	}
	for range d.Count() {
		creator := d.Uint()
		if creator >= uint64(len(q.creators)) {
			d.Fail()
			return
		}
		q.newSlot(int32(creator))
	}
}

// encodeChanged writes the changed objects.
func (h *handles) encodeChanged(e *checkpoint.Encoder, everything bool) {
	if everything {
		h.changed = h.changed[:0]
		for id := range h.raw {
			h.changed = append(h.changed, int32(id))
		}
	}
	e.Uint(uint64(len(h.changed)))
	for _, id := range h.changed {
		e.Uint(uint64(id))
		e.Uint(uint64(h.refs[id]))
		if h.refs[id] > 0 {
			e.Uint(h.raw[id])
		}
		h.isChanged[id] = false
	}
	h.changed = h.changed[:0]
	if cap(h.changed) > maxChangedKept {
		h.changed = nil
	}
}

// maxChangedKept is the maximal capacity of a list of changed objects that is kept
// between checkpoints.
const maxChangedKept = 1 << 16

func (h *handles) decodeChanged(d *checkpoint.Decoder) {
	for range d.Count() {
		id, refs := d.Uint(), d.Uint()
		if id > uint64(len(h.raw)) || refs > math.MaxInt32 {
			d.Fail()
			return
		}
		if id == uint64(len(h.raw)) {
			h.grow()
		}
		if h.refs[id] = int32(refs); refs > 0 {
			h.raw[id] = d.Uint()
		}
	}
}

// complete computes the free ids.
func (h *handles) complete() {
	h.ids = freeList{next: int32(len(h.raw))}
	for id, refs := range h.refs {
		if refs > 0 {
			h.table.put(h.raw[id], int32(id))
		} else {
			h.ids.heap = append(h.ids.heap, int32(id)) // a sorted list is a heap
		}
	}
}

// encodeNew writes new communicators, names that existing ones were given, and changed counts.
func (c *communicators) encodeNew(e *checkpoint.Encoder, from int, everything bool) {
	e.Uint(uint64(len(c.instances) - from))
	for i := range c.instances[from:] {
		encodeInstance(e, &c.instances[from+i])
	}
	if everything {
		c.labeled, c.counted = nil, slices.Sorted(maps.Keys(c.nth))
	}
	e.Uint(uint64(len(c.labeled)))
	for _, i := range c.labeled {
		e.Uint(uint64(i))
		e.Text(c.instances[i].Label)
	}
	e.Uint(uint64(len(c.counted)))
	for _, name := range c.counted {
		e.Text(name)
		e.Uint(c.nth[name])
	}
	c.labeled, c.counted = nil, nil
}

func (c *communicators) decodeNew(d *checkpoint.Decoder) {
	for range d.Count() {
		c.instances = append(c.instances, decodeInstance(d))
	}
	for range d.Count() {
		i, label := d.Uint(), d.Text()
		if i >= uint64(len(c.instances)) {
			d.Fail()
			return
		}
		c.instances[i].Label = label
	}
	for range d.Count() {
		name := d.Text()
		if _, known := c.nth[name]; !known {
			c.nameBytes += len(name) + textBytes + mapEntry
		}
		c.nth[name] = d.Uint()
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
