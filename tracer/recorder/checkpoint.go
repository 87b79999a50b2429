package recorder

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
	"github.com/cairn-mpi/cairn/tracer/recorder/key"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A checkpoint is the whole state of a recorder: a recorder restored from it continues as if it had
// never been stopped. Its tables are in a file of their own (tables.go). A checkpoint is read only
// by the version of this package that wrote it, on the same machine; it is not a file format.

// checkpointMagic is the version of the format.
const checkpointMagic = "CAIRNSTA"

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
	r.processState.encode(e)
	e.Uint(uint64(r.keys.Generality()))
	r.encodeNotes(e)
	r.objects.EncodeLive(e)
	r.clustering.Encode(e)
	r.blocks.encode(e)
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
	r.processState.decode(d)
	r.keys.Generalize(key.Generality(min(d.Uint(), uint64(key.DropsArguments))))
	r.decodeNotes(d)
	r.objects.DecodeLive(d)
	r.clustering.Decode(d)
	r.blocks.decode(d)
	if n := d.Count(); n != len(r.threads) {
		return nil, ErrCheckpoint
	}
	for _, t := range r.threads {
		if err := t.decode(d, r.keys.Len()); err != nil {
			return nil, err
		}
	}
	if d.Failed || len(d.Rest) > 0 {
		return nil, ErrCheckpoint
	}
	return r, nil
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
	number := uint32(d.Uint())
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
	calls, err := grammar.Resume(g)
	if err != nil {
		return err
	}
	t.start(number, calls)
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
