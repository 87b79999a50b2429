package recorder

import (
	"encoding/binary"
	"errors"

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

// AppendCheckpoint appends the state of a recorder to b. Its tables are in the file that in
// identifies, or are given here.
func (r *Recorder) AppendCheckpoint(b []byte, in TablesAt, tables []byte) []byte {
	start := len(b)
	e := &checkpoint.Encoder{Buffer: append(b, checkpointMagic...)}
	v := checkpoint.Visitor{To: e}
	in.visit(v)
	e.Bytes(tables)
	r.visit(v)
	e.Uint(uint64(len(r.threads)))
	for _, t := range r.threads {
		t.visit(v)
		e.Buffer = codec.AppendGrammar(e.Buffer, t.grammar.Grammar())
	}
	return binary.LittleEndian.AppendUint64(e.Buffer, xxhash.Sum64(e.Buffer[start:]))
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
	v := checkpoint.Visitor{From: d}
	var in TablesAt
	in.visit(v)
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
	r.visit(v)
	if n := d.Count(); n != len(r.threads) {
		return nil, ErrCheckpoint
	}
	for _, t := range r.threads {
		t.visit(v)
		if err := t.resume(d); err != nil {
			return nil, err
		}
	}
	if d.Failed || len(d.Rest) > 0 {
		return nil, ErrCheckpoint
	}
	return r, nil
}

// visit visits the state beside the tables and the threads.
func (r *Recorder) visit(v checkpoint.Visitor) {
	r.processState.visit(v)
	level := r.keys.Generality()
	checkpoint.Uint(v, &level)
	r.keys.Generalize(min(level, key.DropsArguments))
	checkpoint.List(v, &r.notes, v.Text)
	r.objects.VisitLive(v)
	r.clustering.Visit(v)
	v.Part(r.blocks.encode, r.blocks.decode)
}

// visit visits a thread without its grammar.
func (t *thread) visit(v checkpoint.Visitor) {
	checkpoint.Uint(v, &t.number)
	v.Bool(&t.untraced)
	checkpoint.Uint(v, &t.calls)
	checkpoint.Int(v, &t.firstTick, &t.lastExit)
	checkpoint.Uint(v, &t.lastFunction)
	checkpoint.Uint(v, &t.sequence)
	checkpoint.Uint(v, &t.offset)
	v.Check(t.offset >= 0)
	t.visitTiming(v)
	t.tally.visit(v)
	checkpoint.Uint(v, &t.inChapters)
}

// resume reads the grammar of a thread, and continues after it.
func (t *thread) resume(d *checkpoint.Decoder) error {
	if d.Failed || len(t.aggregates) > t.recorder.keys.Len() || len(t.aggregates) == 0 && t.timed() != t.calls {
		return ErrCheckpoint
	}
	g, rest, err := codec.DecodeGrammar(d.Rest)
	if err != nil {
		return err
	}
	d.Rest = rest
	calls, err := grammar.Resume(g)
	if err != nil {
		return err
	}
	t.start(t.number, calls)
	return nil
}

// A TablesAt identifies the tables of a checkpoint.
type TablesAt struct {
	Number int    // of the file
	Bytes  int64  // length of the valid part; 0: no file
	Sum    uint64 // checksum of that part
}

func (t *TablesAt) visit(v checkpoint.Visitor) {
	checkpoint.Uint(v, &t.Number)
	checkpoint.Uint(v, &t.Bytes)
	checkpoint.Uint(v, &t.Sum)
	v.Check(t.Number >= 0 && t.Bytes >= 0)
}
