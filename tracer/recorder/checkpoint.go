package recorder

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sort"

	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
)

// A checkpoint is the whole state of a recorder: what it goes on from is the same as if it had never been stopped. It
// is read by the version of this package that wrote it, on the same machine; it is not a file format.
const checkpointMagic = "CAIRNST7"

var errCheckpoint = errors.New("damaged checkpoint")

// AppendState appends the state of the recorder to b.
func (r *Recorder) AppendState(b []byte) []byte {
	start := len(b)
	e := &encoder{append(b, checkpointMagic...)}
	r.encodeProcess(e)
	e.uint(uint64(len(r.sites.list)))
	for _, s := range r.sites.list {
		e.text(s.BuildID)
		e.text(s.Module)
		e.uint(s.Offset)
		e.uint(uint64(s.Caller))
		e.text(s.Function) // of a line; others are told later
		e.text(s.File)
		e.uint(uint64(s.Line))
	}
	e.uint(uint64(len(r.signatures.terminals)))
	for _, t := range r.signatures.terminals {
		e.int(int64(t.request))
		if t.request == none {
			e.text(t.key) // a creating signature has its key at its creator
		}
	}
	r.requests.encode(e)
	for _, kind := range mpi.Kinds() {
		if h := r.handles[kind]; h != nil {
			h.encode(e)
		}
	}
	r.communicators.encode(e)
	r.clustering.encode(e)
	e.uint(uint64(len(r.full)))
	for _, b := range r.full {
		b.encode(e)
	}
	e.uint(uint64(len(r.threads)))
	for _, t := range r.threads {
		t.encode(e)
	}
	return binary.LittleEndian.AppendUint64(e.b, xxhash.Sum64(e.b[start:]))
}

// Restore makes a recorder from its state.
func Restore(p *Process, state []byte) (*Recorder, error) {
	if len(state) < len(checkpointMagic)+8 || string(state[:len(checkpointMagic)]) != checkpointMagic {
		return nil, errCheckpoint
	}
	body := state[:len(state)-8]
	if xxhash.Sum64(body) != binary.LittleEndian.Uint64(state[len(body):]) {
		return nil, errCheckpoint
	}
	return restore(p, body[len(checkpointMagic):])
}

// restore reads the state without its frame.
func restore(p *Process, body []byte) (*Recorder, error) {
	r := New(p)
	d := &decoder{b: body}
	r.decodeProcess(d)
	for range d.count() {
		r.sites.place(trace.Site{BuildID: d.text(), Module: d.text(), Offset: d.uint(), Caller: uint32(d.uint()),
			Function: d.text(), File: d.text(), Line: int(d.uint())})
	}
	for range d.count() {
		t := terminal{request: int32(d.int())}
		if t.request == none {
			t.key = d.text()
			r.signatures.byKey[t.key] = int32(len(r.signatures.terminals))
			r.signatures.keyBytes += len(t.key) + textBytes
		}
		r.signatures.terminals = append(r.signatures.terminals, t)
	}
	r.requests.decode(d)
	if d.bad {
		return nil, errCheckpoint
	}
	for i := range r.signatures.terminals {
		t := &r.signatures.terminals[i]
		if t.request == none {
			continue
		}
		if t.request < 0 || int(t.request) >= len(r.requests.ids) {
			return nil, errCheckpoint
		}
		t.key = r.requests.creators[r.requests.ids[t.request].creator].key
	}
	for key := range r.signatures.byKey {
		r.countKnown(key)
	}
	for key := range r.requests.byKey {
		r.countKnown(key)
	}
	for _, kind := range mpi.Kinds() {
		if h := r.handles[kind]; h != nil {
			h.decode(d)
		}
	}
	r.communicators.decode(d)
	r.clustering.decode(d)
	for range d.count() {
		r.full = append(r.full, decodeBlock(d))
	}
	for range d.count() {
		t := r.newThread()
		if err := t.decode(d, len(r.signatures.terminals)); err != nil {
			return nil, err
		}
		r.threads = append(r.threads, t)
	}
	if d.bad || len(d.b) > 0 {
		return nil, errCheckpoint
	}
	return r, nil
}

func (r *Recorder) encodeProcess(e *encoder) {
	e.int(int64(r.rank))
	e.int(int64(r.worldSize))
	e.bool(r.finalized)
	e.bool(r.off)
	e.int(int64(r.sessions))
	e.uint(uint64(len(r.samples)))
	for _, s := range r.samples {
		e.int(s.Ticks)
		e.int(s.MonotonicNS)
		e.int(s.RealtimeNS)
	}
	e.uint(r.lost.Dropped)
	e.uint(r.lost.Malformed)
	e.uint(r.lost.Truncated)
	e.uint(r.lost.Abandoned)
	e.uint(uint64(r.generality))
	e.uint(uint64(len(r.notes)))
	for _, n := range r.notes {
		e.text(n)
	}
}

func (r *Recorder) decodeProcess(d *decoder) {
	r.rank, r.worldSize = int(d.int()), int(d.int())
	r.finalized = d.bool()
	r.off = d.bool()
	r.sessions = int(d.int())
	for range d.count() {
		r.samples = append(r.samples, trace.ClockSample{Ticks: d.int(), MonotonicNS: d.int(), RealtimeNS: d.int()})
	}
	r.lost = lost{Dropped: d.uint(), Malformed: d.uint(), Truncated: d.uint(), Abandoned: d.uint()}
	r.generalizeTo(generality(min(d.uint(), uint64(dropsArguments))))
	for range d.count() {
		r.notes = append(r.notes, d.text())
	}
}

func (l *freeList) encode(e *encoder) {
	e.uint(uint64(l.next))
	e.uint(uint64(len(l.heap)))
	slices.Sort(l.heap) // it is a heap still, and the same whatever was done between two equal states
	for _, id := range l.heap {
		e.uint(uint64(id))
	}
}

func (l *freeList) decode(d *decoder) {
	l.next = int32(d.uint())
	for range d.count() {
		id := d.uint()
		if id >= uint64(l.next) {
			d.fail()
		}
		l.heap = append(l.heap, int32(id))
	}
}

func (q *requests) encode(e *encoder) {
	e.uint(uint64(len(q.ids)))
	e.uint(uint64(len(q.creators)))
	for i := range q.creators {
		c := &q.creators[i]
		e.text(c.key)
		c.free.encode(e)
		e.uint(uint64(len(c.slots)))
		for _, s := range c.slots {
			e.uint(uint64(s.id))
			e.int(int64(s.terminal))
		}
	}
	live := 0
	for i := range q.queues {
		if q.queues[i].head != none {
			live++
		}
	}
	e.uint(uint64(live))
	for i := range q.queues {
		queue := &q.queues[i]
		if queue.head == none {
			continue
		}
		e.uint(queue.raw)
		n := 0
		for node := queue.head; node != none; node = q.live[node].next {
			n++
		}
		e.uint(uint64(n))
		for node := queue.head; node != none; node = q.live[node].next {
			e.uint(uint64(q.live[node].id))
			e.uint(uint64(q.live[node].thread))
		}
	}
}

func (q *requests) decode(d *decoder) {
	ids := d.count()
	q.ids = make([]requestID, ids)
	for i := range q.ids {
		q.ids[i].creator = none
	}
	for i := range d.count() {
		c := creator{key: d.text()}
		c.free.decode(d)
		for k := range d.count() {
			s := creatorSlot{id: int32(d.uint()), terminal: int32(d.int())}
			if s.id < 0 || int(s.id) >= ids || q.ids[s.id].creator != none {
				d.fail()
				return
			}
			q.ids[s.id] = requestID{creator: int32(i), index: int32(k)}
			c.slots = append(c.slots, s)
		}
		if int(c.free.next) != len(c.slots) {
			d.fail()
			return
		}
		q.byKey[c.key] = int32(i)
		q.keyBytes += len(c.key) + textBytes
		q.creators = append(q.creators, c)
	}
	for _, id := range q.ids {
		if id.creator == none {
			d.fail()
			return
		}
	}
	for range d.count() {
		raw := d.uint()
		for range d.count() {
			id := d.uint()
			q.thread = uint32(d.uint())
			if id >= uint64(ids) || q.isNull(raw) {
				d.fail()
				return
			}
			q.push(raw, int32(id))
		}
	}
}

func (h *handles) encode(e *encoder) {
	h.ids.encode(e)
	for id := range h.raw {
		e.uint(uint64(h.refs[id]))
		if h.refs[id] > 0 {
			e.uint(h.raw[id])
		}
	}
}

func (h *handles) decode(d *decoder) {
	h.ids.decode(d)
	if h.ids.next < 0 || int(h.ids.next) > len(d.b) {
		d.fail()
		return
	}
	h.raw = make([]uint64, h.ids.next)
	h.refs = make([]int32, h.ids.next)
	for id := range h.raw {
		h.refs[id] = int32(d.uint())
		if h.refs[id] > 0 {
			h.raw[id] = d.uint()
			h.table.put(h.raw[id], int32(id))
		}
	}
}

func (c *communicator) encode(e *encoder) {
	e.bool(c.known)
	e.int(int64(c.instance))
	e.int(int64(c.own))
	e.bool(c.inter)
	e.uint(c.creations)
}

func (c *communicator) decode(d *decoder) {
	c.known = d.bool()
	c.instance, c.own = int32(d.int()), int32(d.int())
	c.inter = d.bool()
	c.creations = d.uint()
}

func (c *communicators) encode(e *encoder) {
	e.int(int64(c.rank))
	for i := range c.predefined {
		c.predefined[i].encode(e)
	}
	e.uint(uint64(len(c.live)))
	for i := range c.live {
		c.live[i].encode(e)
	}
	e.uint(uint64(len(c.instances)))
	for i := range c.instances {
		encodeInstance(e, &c.instances[i])
	}
	e.uint(uint64(len(c.nth)))
	names := make([]string, 0, len(c.nth))
	for name := range c.nth {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		e.text(name)
		e.uint(c.nth[name])
	}
}

func (c *communicators) decode(d *decoder) {
	c.rank = int(d.int())
	for i := range c.predefined {
		c.predefined[i].decode(d)
	}
	for range d.count() {
		var live communicator
		live.decode(d)
		c.live = append(c.live, live)
	}
	for range d.count() {
		c.instances = append(c.instances, decodeInstance(d))
	}
	for range d.count() {
		name := d.text()
		c.nth[name] = d.uint()
	}
	valid := func(k *communicator) bool {
		return !k.known || k.instance >= 0 && int(k.instance) < len(c.instances)
	}
	for i := range c.live {
		if !valid(&c.live[i]) {
			d.fail()
		}
	}
	if !valid(&c.predefined[0]) || !valid(&c.predefined[1]) {
		d.fail()
	}
}

func encodeInstance(e *encoder, c *trace.Communicator) {
	e.text(c.GlobalName)
	e.text(c.Label)
	for _, l := range []trace.RankList{c.Members, c.Remote} {
		e.uint(uint64(len(l)))
		for _, run := range l {
			e.int(int64(run.Start))
			e.int(int64(run.Count))
			e.int(int64(run.Stride))
		}
	}
	e.uint(uint64(len(c.Topology.Dims)))
	for i, dim := range c.Topology.Dims {
		e.int(int64(dim))
		e.bool(i < len(c.Topology.Periodic) && c.Topology.Periodic[i])
	}
	e.bool(c.Topology.Graph)
}

func decodeInstance(d *decoder) trace.Communicator {
	c := trace.Communicator{GlobalName: d.text(), Label: d.text()}
	for _, l := range []*trace.RankList{&c.Members, &c.Remote} {
		for range d.count() {
			*l = append(*l, trace.Run{Start: int(d.int()), Count: int(d.int()), Stride: int(d.int())})
		}
	}
	for range d.count() {
		c.Topology.Dims = append(c.Topology.Dims, int(d.int()))
		c.Topology.Periodic = append(c.Topology.Periodic, d.bool())
	}
	c.Topology.Graph = d.bool()
	return c
}

func (c *column) encode(e *encoder) {
	e.uint(c.n)
	e.int(c.sum)
	e.bytes(c.b)
}

func (c *column) decode(d *decoder) {
	c.n, c.sum = d.uint(), d.int()
	c.b = slices.Clone(d.bytes()) // it grows
	if c.n > uint64(len(c.b)) {
		d.fail()
	}
}

func (t *thread) encode(e *encoder) {
	e.uint(uint64(t.number))
	e.bool(t.untraced)
	e.uint(t.calls)
	e.int(t.firstTick)
	e.int(t.lastExit)
	e.uint(uint64(t.lastFunction))
	e.uint(t.sequence)
	e.uint(uint64(t.offset))
	t.encodeTiming(e)
	t.tally.encode(e)
	e.uint(t.inChapters)
	e.b = trace.AppendGrammar(e.b, t.grammar.Grammar())
	n := 0
	for i := range t.results {
		t.results[i].settle()
		if len(t.results[i].streams) > 0 {
			n++
		}
	}
	e.uint(uint64(n))
	for number := range t.results {
		streams := t.results[number].streams
		if len(streams) == 0 {
			continue
		}
		e.uint(uint64(number))
		e.uint(uint64(len(streams)))
		for i := range streams {
			e.uint(streams[i].inBlocks)
			e.uint(streams[i].n - streams[i].inBlocks)
			e.bytes(streams[i].encoded())
		}
	}
}

func (t *thread) decode(d *decoder, terminals int) error {
	t.number = uint32(d.uint())
	t.untraced = d.bool()
	t.calls = d.uint()
	t.firstTick, t.lastExit = d.int(), d.int()
	t.lastFunction = uint16(d.uint())
	t.sequence = d.uint()
	t.offset = int(d.uint())
	if t.offset < 0 {
		d.fail()
	}
	if err := t.decodeTiming(d, terminals); err != nil {
		return err
	}
	if t.tally.decode(d); len(t.aggregates) == 0 && t.timed() != t.calls {
		return errCheckpoint
	}
	t.inChapters = d.uint()
	g, rest, err := trace.DecodeGrammar(d.b)
	if err != nil {
		return err
	}
	d.b = rest
	if t.grammar, err = trace.ResumeSequitur(g); err != nil {
		return err
	}
	for range d.count() {
		number, n := d.uint(), d.count()
		if number >= uint64(terminals) {
			return errCheckpoint
		}
		streams := make([]stream, n)
		for i := range streams {
			inBlocks, inMemory := d.uint(), d.uint()
			var ok bool
			if streams[i], ok = decodeStream(d.bytes(), inMemory); !ok || inBlocks > math.MaxInt64 || inMemory > math.MaxInt64 {
				return errCheckpoint
			}
			streams[i].inBlocks, streams[i].n = inBlocks, inBlocks+inMemory
		}
		t.resultsOf(int32(number)).streams = streams
	}
	return nil
}
