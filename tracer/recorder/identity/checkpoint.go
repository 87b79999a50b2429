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

// VisitLive visits which requests and communicators exist. To be read, the tables must be complete.
func (o *Objects) VisitLive(v checkpoint.Visitor) {
	v.Part(o.Requests.encodeLive, o.Requests.decodeLive)
	o.communicators.visitLive(v)
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
	for id, refs := range h.refs {
		if refs > 0 {
			h.table[h.raw[id]] = int32(id)
		} else {
			h.ids.give(int32(id))
		}
	}
}

// encodeNew writes new communicators, names that existing ones were given, and changed counts.
func (c *communicators) encodeNew(e *checkpoint.Encoder, everything bool) {
	if everything {
		c.written, c.labeled, c.counted = 0, nil, slices.Sorted(maps.Keys(c.nth))
	}
	added := c.instances[c.written:]
	v := checkpoint.Visitor{To: e}
	checkpoint.List(v, &added, func(k *trace.Communicator) { visitInstance(v, k) })
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
	v := checkpoint.Visitor{From: d}
	checkpoint.List(v, &c.instances, func(k *trace.Communicator) { visitInstance(v, k) })
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
		if r := q.ids[id]; !lives {
			q.creators[r.creator].free.give(r.index)
		}
	}
}

// visitLive visits the existing communicators.
func (c *communicators) visitLive(v checkpoint.Visitor) {
	checkpoint.Int(v, &c.rank)
	for i := range c.predefined {
		c.visit(v, &c.predefined[i])
	}
	checkpoint.List(v, &c.live, func(k *Communicator) { c.visit(v, k) })
}

func (c *communicators) visit(v checkpoint.Visitor, k *Communicator) {
	v.Bool(&k.known)
	checkpoint.Int(v, &k.instance, &k.Own)
	v.Bool(&k.Inter)
	checkpoint.Uint(v, &k.creations)
	v.Check(!k.known || k.instance >= 0 && int(k.instance) < len(c.instances))
}

func visitInstance(v checkpoint.Visitor, c *trace.Communicator) {
	v.Text(&c.GlobalName)
	v.Text(&c.Label)
	for _, list := range []*trace.RankList{&c.Members, &c.Remote} {
		checkpoint.List(v, list, func(run *trace.Run) { checkpoint.Int(v, &run.Start, &run.Count, &run.Stride) })
	}
	t, dim := &c.Topology, 0
	checkpoint.List(v, &t.Dims, func(size *int) {
		if dim == len(t.Periodic) {
			t.Periodic = append(t.Periodic, false)
		}
		checkpoint.Int(v, size)
		v.Bool(&t.Periodic[dim])
		dim++
	})
	v.Bool(&t.Graph)
}
