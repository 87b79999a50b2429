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
	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A checkpoint is the whole state of a recorder: a recorder restored from it continues as if it had
// never been stopped. Its tables are in a file of their own (tables.go). A checkpoint is read only
// by the version of this package that wrote it, on the same machine; it is not a file format.

// checkpointMagic is the version of the format.
const checkpointMagic = "CAIRNST8"

// ErrCheckpoint reports a damaged checkpoint.
var ErrCheckpoint = errors.New("damaged checkpoint")

// AppendState appends the complete state of the recorder to b, including its tables. It is for
// recorders without a Spool, which would write the tables to a file.
func (r *Recorder) AppendState(b []byte) []byte {
	return r.AppendCheckpoint(b, TablesAt{}, r.AppendTables(nil, true))
}

// AppendCheckpoint appends the state of a recorder to b. Its tables are in the file that in
// identifies, or are given here.
func (r *Recorder) AppendCheckpoint(b []byte, in TablesAt, tables []byte) []byte {
	start := len(b)
	e := &checkpoint.Encoder{Buffer: append(b, checkpointMagic...)}
	in.encode(e)
	e.Bytes(tables)
	r.encodeProcess(e)
	r.requests.encodeLive(e)
	r.communicators.encodeLive(e)
	r.clustering.Encode(e)
	e.Uint(uint64(len(r.full)))
	for _, b := range r.full {
		b.encode(e)
	}
	e.Uint(uint64(len(r.threads)))
	for _, t := range r.threads {
		t.encode(e)
	}
	return binary.LittleEndian.AppendUint64(e.Buffer, xxhash.Sum64(e.Buffer[start:]))
}

// Restore makes a recorder from the result of AppendState.
func Restore(p *record.Process, state []byte) (*Recorder, error) {
	return RestoreFrom(p, state, func(TablesAt, func([]byte) error) error { return ErrCheckpoint })
}

// RestoreFrom makes a recorder from its state. Tables that are in a file are read piece by
// piece with read.
func RestoreFrom(p *record.Process, state []byte, read func(TablesAt, func(piece []byte) error) error) (*Recorder, error) {
	if len(state) < len(checkpointMagic)+8 || string(state[:len(checkpointMagic)]) != checkpointMagic {
		return nil, ErrCheckpoint
	}
	body := state[:len(state)-8]
	if xxhash.Sum64(body) != binary.LittleEndian.Uint64(state[len(body):]) {
		return nil, ErrCheckpoint
	}
	return restore(p, body[len(checkpointMagic):], read)
}

// restore reads the state without its frame.
func restore(p *record.Process, body []byte, read func(TablesAt, func(piece []byte) error) error) (*Recorder, error) {
	r := New(p)
	d := &checkpoint.Decoder{Rest: body}
	in := decodeTablesAt(d)
	if tables := d.Bytes(); len(tables) > 0 {
		if err := r.applyTables(tables); err != nil {
			return nil, err
		}
	}
	if in.Bytes > 0 {
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
	r.clustering.Decode(d)
	for range d.Count() {
		r.full = append(r.full, decodeBlock(d))
	}
	if n := d.Count(); n != len(r.threads) {
		return nil, ErrCheckpoint
	}
	for _, t := range r.threads {
		if err := t.decode(d, len(r.signatures.terminals)); err != nil {
			return nil, err
		}
	}
	if d.Failed || len(d.Rest) > 0 {
		return nil, ErrCheckpoint
	}
	return r, nil
}

func (r *Recorder) encodeProcess(e *checkpoint.Encoder) {
	e.Int(int64(r.rank))
	e.Int(int64(r.worldSize))
	e.Bool(r.finalized)
	e.Bool(r.off)
	e.Int(int64(r.sessions))
	e.Uint(uint64(len(r.samples)))
	for _, s := range r.samples {
		e.Int(s.Ticks)
		e.Int(s.MonotonicNS)
		e.Int(s.RealtimeNS)
	}
	e.Uint(r.lost.Dropped)
	e.Uint(r.lost.Malformed)
	e.Uint(r.lost.Truncated)
	e.Uint(r.lost.Abandoned)
	e.Uint(uint64(r.generality))
	e.Uint(uint64(len(r.notes)))
	for _, n := range r.notes {
		e.Text(n)
	}
}

func (r *Recorder) decodeProcess(d *checkpoint.Decoder) {
	r.rank, r.worldSize = int(d.Int()), int(d.Int())
	r.finalized = d.Bool()
	r.off = d.Bool()
	r.sessions = int(d.Int())
	for range d.Count() {
		r.samples = append(r.samples, timing.ClockSample{Ticks: d.Int(), MonotonicNS: d.Int(), RealtimeNS: d.Int()})
	}
	r.lost = lost{Dropped: d.Uint(), Malformed: d.Uint(), Truncated: d.Uint(), Abandoned: d.Uint()}
	r.generalizeTo(generality(min(d.Uint(), uint64(dropsArguments))))
	for range d.Count() {
		r.notes = append(r.notes, d.Text())
	}
}

// encodeLive writes the live requests.
func (q *requests) encodeLive(e *checkpoint.Encoder) {
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
func (q *requests) decodeLive(d *checkpoint.Decoder) {
	lives := make([]bool, len(q.ids))
	for range d.Count() {
		raw := d.Uint()
		for range d.Count() {
			id := d.Uint()
			q.thread = uint32(d.Uint())
			if id >= uint64(len(q.ids)) || lives[id] || q.isNull(raw) {
				d.Fail()
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

func (c *communicator) encode(e *checkpoint.Encoder) {
	e.Bool(c.known)
	e.Int(int64(c.instance))
	e.Int(int64(c.own))
	e.Bool(c.inter)
	e.Uint(c.creations)
}

func (c *communicator) decode(d *checkpoint.Decoder) {
	c.known = d.Bool()
	c.instance, c.own = int32(d.Int()), int32(d.Int())
	c.inter = d.Bool()
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
		var live communicator
		live.decode(d)
		c.live = append(c.live, live)
	}
	valid := func(k *communicator) bool {
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

func (c *column) encode(e *checkpoint.Encoder) {
	e.Uint(c.n)
	e.Int(c.sum)
	e.Bytes(c.b)
}

func (c *column) decode(d *checkpoint.Decoder) {
	c.n, c.sum = d.Uint(), d.Int()
	c.b = slices.Clone(d.Bytes()) // appended to later
	if c.n > uint64(len(c.b)) {
		d.Fail()
	}
}

func (t *thread) encode(e *checkpoint.Encoder) {
	e.Uint(uint64(t.number))
	e.Bool(t.untraced)
	e.Uint(t.calls)
	e.Int(t.firstTick)
	e.Int(t.lastExit)
	e.Uint(uint64(t.lastFunction))
	e.Uint(t.sequence)
	e.Uint(uint64(t.offset))
	t.encodeTiming(e)
	t.tally.encode(e)
	e.Uint(t.inChapters)
	e.Buffer = codec.AppendGrammar(e.Buffer, t.grammar.Grammar())
}

func (t *thread) decode(d *checkpoint.Decoder, terminals int) error {
	t.number = uint32(d.Uint())
	t.untraced = d.Bool()
	t.calls = d.Uint()
	t.firstTick, t.lastExit = d.Int(), d.Int()
	t.lastFunction = uint16(d.Uint())
	t.sequence = d.Uint()
	t.offset = int(d.Uint())
	if t.offset < 0 {
		d.Fail()
	}
	if err := t.decodeTiming(d, terminals); err != nil {
		return err
	}
	if t.tally.decode(d); len(t.aggregates) == 0 && t.timed() != t.calls {
		return ErrCheckpoint
	}
	t.inChapters = d.Uint()
	g, rest, err := codec.DecodeGrammar(d.Rest)
	if err != nil {
		return err
	}
	d.Rest = rest
	if t.grammar, err = grammar.Resume(g); err != nil {
		return err
	}
	return nil
}

// A TablesAt identifies the tables of a checkpoint.
type TablesAt struct {
	Number int    // of the file
	Bytes  int64  // length of the valid part; 0: no file
	Sum    uint64 // checksum of that part
}

func (t TablesAt) encode(e *checkpoint.Encoder) {
	e.Uint(uint64(t.Number))
	e.Uint(uint64(t.Bytes))
	e.Uint(t.Sum)
}

func decodeTablesAt(d *checkpoint.Decoder) TablesAt {
	t := TablesAt{Number: int(d.Uint()), Bytes: int64(d.Uint()), Sum: d.Uint()}
	if t.Number < 0 || t.Bytes < 0 {
		d.Fail()
	}
	return t
}
