package identity

import (
	"maps"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
)

// A checkpoint has two parts. The tables are the handles, all request ids and all communicators
// that ever existed; most of them only grow, and a checkpoint adds the changes since the one
// before. The other part says which requests and communicators are live. It is small and written
// as a whole.

// EncodeTables writes the changes of the tables since its last call, or everything.
func (o *Objects) EncodeTables(e *checkpoint.Encoder, everything bool) {
	o.Requests.encodeNew(e, everything)
	for _, kind := range mpi.Kinds() {
		if h := o.handles[kind]; h != nil {
			h.encodeChanged(e, everything)
		}
	}
	o.communicators.encodeNew(e, everything)
}

// DecodeTables applies what EncodeTables wrote. CompleteTables must follow the last call.
func (o *Objects) DecodeTables(d *checkpoint.Decoder) {
	o.Requests.decodeNew(d)
	for _, kind := range mpi.Kinds() {
		if h := o.handles[kind]; h != nil {
			h.decodeChanged(d)
		}
	}
	o.communicators.decodeNew(d)
}

// CompleteTables computes what follows from the tables: which ids are free.
func (o *Objects) CompleteTables() {
	for _, h := range o.handles {
		if h != nil {
			h.complete()
		}
	}
}

// EncodeLive writes which requests and communicators exist.
func (o *Objects) EncodeLive(e *checkpoint.Encoder) {
	o.Requests.encodeLive(e)
	o.communicators.encodeLive(e)
}

// DecodeLive reads what EncodeLive wrote. The tables must be complete.
func (o *Objects) DecodeLive(d *checkpoint.Decoder) {
	o.Requests.decodeLive(d)
	o.communicators.decodeLive(d)
}

// encodeNew writes new creators, and the creator of each new request id. The ids are the
// requests of a creator in order. Which of them are live is in the state.
func (q *Requests) encodeNew(e *checkpoint.Encoder, everything bool) {
	if everything {
		q.writtenCreators, q.writtenIDs = 0, 0
	}
	creators, ids := q.creators[q.writtenCreators:], q.ids[q.writtenIDs:]
	e.Uint(uint64(len(creators)))
	for i := range creators {
		e.Text(creators[i].key)
	}
	e.Uint(uint64(len(ids)))
	for _, id := range ids {
		e.Uint(uint64(id.creator))
	}
	q.writtenCreators, q.writtenIDs = len(q.creators), len(q.ids)
}

func (q *Requests) decodeNew(d *checkpoint.Decoder) {
	for range d.Count() {
		q.Creator(d.Bytes())
	}
	for range d.Count() {
		creator := d.Uint()
		if creator >= uint64(len(q.creators)) {
			d.Fail()
			return
		}
		q.grow(int32(creator))
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
			h.table.Put(h.raw[id], int32(id))
		} else {
			h.ids.heap = append(h.ids.heap, int32(id)) // a sorted list is a heap
		}
	}
}

// encodeNew writes new communicators, names that existing ones were given, and changed counts.
func (c *communicators) encodeNew(e *checkpoint.Encoder, everything bool) {
	if everything {
		c.written, c.labeled, c.counted = 0, nil, slices.Sorted(maps.Keys(c.nth))
	}
	added := c.instances[c.written:]
	e.Uint(uint64(len(added)))
	for i := range added {
		encodeInstance(e, &added[i])
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
	c.written, c.labeled, c.counted = len(c.instances), nil, nil
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
			c.nameBytes += len(name) + TextBytes + EntryBytes
		}
		c.nth[name] = d.Uint()
	}
}

// encodeLive writes the live requests.
func (q *Requests) encodeLive(e *checkpoint.Encoder) {
	live := 0
	for i := range q.queues {
		if q.queues[i].head != none {
			live++
		}
	}
	e.Uint(uint64(live))
	for i := range q.queues {
		queue := &q.queues[i]
		if queue.head == none {
			continue
		}
		e.Uint(queue.raw)
		n := 0
		for node := queue.head; node != none; node = q.live[node].next {
			n++
		}
		e.Uint(uint64(n))
		for node := queue.head; node != none; node = q.live[node].next {
			e.Uint(uint64(q.live[node].id))
			e.Uint(uint64(q.live[node].thread))
		}
	}
}

// decodeLive reads the live requests. All other slots are free.
func (q *Requests) decodeLive(d *checkpoint.Decoder) {
	lives := make([]bool, len(q.ids))
	for range d.Count() {
		raw := d.Uint()
		for range d.Count() {
			id := d.Uint()
			q.thread = uint32(d.Uint())
			_, null := q.Null(raw)
			if id >= uint64(len(q.ids)) || lives[id] || null {
				d.Fail()
				return
			}
			lives[id] = true
			q.push(raw, int32(id))
		}
	}
	for id, lives := range lives {
		c := &q.creators[q.ids[id].creator]
		c.free.next = int32(len(c.requests))
		if !lives {
			c.free.heap = append(c.free.heap, q.ids[id].index) // a sorted list is a heap
		}
	}
}

func (c *Communicator) encode(e *checkpoint.Encoder) {
	e.Bool(c.known)
	e.Int(int64(c.instance))
	e.Int(int64(c.Own))
	e.Bool(c.Inter)
	e.Uint(c.creations)
}

func (c *Communicator) decode(d *checkpoint.Decoder) {
	c.known = d.Bool()
	c.instance, c.Own = int32(d.Int()), int32(d.Int())
	c.Inter = d.Bool()
	c.creations = d.Uint()
}

// encodeLive writes the existing communicators.
func (c *communicators) encodeLive(e *checkpoint.Encoder) {
	e.Int(int64(c.rank))
	for i := range c.predefined {
		c.predefined[i].encode(e)
	}
	e.Uint(uint64(len(c.live)))
	for i := range c.live {
		c.live[i].encode(e)
	}
}

func (c *communicators) decodeLive(d *checkpoint.Decoder) {
	c.rank = int(d.Int())
	for i := range c.predefined {
		c.predefined[i].decode(d)
	}
	for range d.Count() {
		var live Communicator
		live.decode(d)
		c.live = append(c.live, live)
	}
	valid := func(k *Communicator) bool {
		return !k.known || k.instance >= 0 && int(k.instance) < len(c.instances)
	}
	for i := range c.live {
		if !valid(&c.live[i]) {
			d.Fail()
		}
	}
	if !valid(&c.predefined[0]) || !valid(&c.predefined[1]) {
		d.Fail()
	}
}

func encodeInstance(e *checkpoint.Encoder, c *trace.Communicator) {
	e.Text(c.GlobalName)
	e.Text(c.Label)
	for _, l := range []trace.RankList{c.Members, c.Remote} {
		e.Uint(uint64(len(l)))
		for _, run := range l {
			e.Int(int64(run.Start))
			e.Int(int64(run.Count))
			e.Int(int64(run.Stride))
		}
	}
	e.Uint(uint64(len(c.Topology.Dims)))
	for i, dim := range c.Topology.Dims {
		e.Int(int64(dim))
		e.Bool(i < len(c.Topology.Periodic) && c.Topology.Periodic[i])
	}
	e.Bool(c.Topology.Graph)
}

func decodeInstance(d *checkpoint.Decoder) trace.Communicator {
	c := trace.Communicator{GlobalName: d.Text(), Label: d.Text()}
	for _, l := range []*trace.RankList{&c.Members, &c.Remote} {
		for range d.Count() {
			*l = append(*l, trace.Run{Start: int(d.Int()), Count: int(d.Int()), Stride: int(d.Int())})
		}
	}
	for range d.Count() {
		c.Topology.Dims = append(c.Topology.Dims, int(d.Int()))
		c.Topology.Periodic = append(c.Topology.Periodic, d.Bool())
	}
	c.Topology.Graph = d.Bool()
	return c
}
