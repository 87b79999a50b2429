package recorder

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A checkpoint is the whole state of a recorder, of which its tables are in a file of their own (tables.go): what it goes on from is the same as if it had never been stopped. It
// is read by the version of this package that wrote it, on the same machine; it is not a file format.
const checkpointMagic = "CAIRNST8"

var errCheckpoint = errors.New("damaged checkpoint")

// AppendState appends the state of the recorder to b, its tables included: of one that no Spool keeps on writing the tables of.
func (r *Recorder) AppendState(b []byte) []byte {
	return r.appendState(b, tablesAt{}, r.appendTables(nil, true))
}

// appendState appends a state whose tables are in a file, or are these.
func (r *Recorder) appendState(b []byte, in tablesAt, tables []byte) []byte {
	start := len(b)
	e := &encoder{append(b, checkpointMagic...)}
	in.encode(e)
	e.bytes(tables)
	r.encodeProcess(e)
	r.requests.encodeLive(e)
	r.communicators.encodeLive(e)
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

// Restore makes a recorder from a state of AppendState.
func Restore(p *Process, state []byte) (*Recorder, error) {
	return restoreWith(p, state, func(tablesAt, func([]byte) error) error { return errCheckpoint })
}

// restoreWith makes a recorder from its state. Tables that are in a file are read with read, piece by piece.
func restoreWith(p *Process, state []byte, read func(tablesAt, func(piece []byte) error) error) (*Recorder, error) {
	if len(state) < len(checkpointMagic)+8 || string(state[:len(checkpointMagic)]) != checkpointMagic {
		return nil, errCheckpoint
	}
	body := state[:len(state)-8]
	if xxhash.Sum64(body) != binary.LittleEndian.Uint64(state[len(body):]) {
		return nil, errCheckpoint
	}
	return restore(p, body[len(checkpointMagic):], read)
}

// restore reads the state without its frame.
func restore(p *Process, body []byte, read func(tablesAt, func(piece []byte) error) error) (*Recorder, error) {
	r := New(p)
	d := &decoder{b: body}
	in := decodeTablesAt(d)
	if tables := d.bytes(); len(tables) > 0 {
		if err := r.applyTables(tables); err != nil {
			return nil, err
		}
	}
	if in.bytes > 0 {
		if err := read(in, r.applyTables); err != nil {
			return nil, err
		}
	}
	if err := r.completeTables(); err != nil {
		return nil, err
	}
	r.decodeProcess(d)
	r.requests.decodeLive(d)
	r.communicators.decodeLive(d)
	r.clustering.decode(d)
	for range d.count() {
		r.full = append(r.full, decodeBlock(d))
	}
	if n := d.count(); n != len(r.threads) {
		return nil, errCheckpoint
	}
	for _, t := range r.threads {
		if err := t.decode(d, len(r.signatures.terminals)); err != nil {
			return nil, err
		}
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
		r.samples = append(r.samples, timing.ClockSample{Ticks: d.int(), MonotonicNS: d.int(), RealtimeNS: d.int()})
	}
	r.lost = lost{Dropped: d.uint(), Malformed: d.uint(), Truncated: d.uint(), Abandoned: d.uint()}
	r.generalizeTo(generality(min(d.uint(), uint64(dropsArguments))))
	for range d.count() {
		r.notes = append(r.notes, d.text())
	}
}

// encodeLive writes the live requests.
func (q *requests) encodeLive(e *encoder) {
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

// decodeLive reads the live requests. The slots of all others are free.
func (q *requests) decodeLive(d *decoder) {
	lives := make([]bool, len(q.ids))
	for range d.count() {
		raw := d.uint()
		for range d.count() {
			id := d.uint()
			q.thread = uint32(d.uint())
			if id >= uint64(len(q.ids)) || lives[id] || q.isNull(raw) {
				d.fail()
				return
			}
			lives[id] = true
			q.push(raw, int32(id))
		}
	}
	for id, lives := range lives {
		c := &q.creators[q.ids[id].creator]
		c.free.next = int32(len(c.slots))
		if !lives {
			c.free.heap = append(c.free.heap, q.ids[id].index) // a sorted list is a heap
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

// encodeLive writes the communicators that there are.
func (c *communicators) encodeLive(e *encoder) {
	e.int(int64(c.rank))
	for i := range c.predefined {
		c.predefined[i].encode(e)
	}
	e.uint(uint64(len(c.live)))
	for i := range c.live {
		c.live[i].encode(e)
	}
}

func (c *communicators) decodeLive(d *decoder) {
	c.rank = int(d.int())
	for i := range c.predefined {
		c.predefined[i].decode(d)
	}
	for range d.count() {
		var live communicator
		live.decode(d)
		c.live = append(c.live, live)
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
	e.b = codec.AppendGrammar(e.b, t.grammar.Grammar())
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
	g, rest, err := codec.DecodeGrammar(d.b)
	if err != nil {
		return err
	}
	d.b = rest
	if t.grammar, err = grammar.Resume(g); err != nil {
		return err
	}
	return nil
}
