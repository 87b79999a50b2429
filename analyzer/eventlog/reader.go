package eventlog

import (
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// A Reader goes through the calls of one location.
type Reader struct {
	// The present call.
	Record    timeline.Record
	Terminal  int32
	Place     int32 // an index into Log.Places
	Poll      polling.Poll
	Posted    bool // others may depend on it: see Dependents
	Completes bool // it may depend on others: see Completion
	Entries   []Entry

	log                       *Log
	calls, completions, posts streamReader
	next                      uint64 // index
	number, left              uint64
	ordinal                   uint32
	bytes, buffer             int64
	depends                   []Dependency
}

// An Entry is that into a collective operation.
type Entry struct {
	Number uint64 // of the operation
	Shape  *Shape
	Part   int
	Bytes  int64 // of the largest buffer of the call
}

// A Dependency is what a call cannot end before: another call (On), or what its part of a collective operation needs of
// others (On.Ordinal is 0).
type Dependency struct {
	On      match.Mark
	Bytes   int64
	Hops    int32 // of another call: how many latencies away it is
	Number  uint64
	Part    int // in the operation
	Awaited int // part that entered last of those that it needs; −1: it needs nobody
	From    int // its location

	// Of a message that makes a handshake where the network has one for its size (or Always):
	Handshake bool // Hops counts its latencies; without a handshake it is one of the data's and none of others
	Own       bool // the call is the thread's own, of which nothing is to be learnt as measured
	Always    bool
	Inert     bool // the call did not wait for it: nothing depends on when it is
}

// Kept is the number of dependents where it is not known.
const Kept = kept

// Read begins to read a location.
func (j *Log) Read(location int) *Reader {
	l := &j.logs[location]
	r := &Reader{log: j, next: l.first}
	r.Record.Location = location
	r.calls = streamReader{spool: j.Spool, chunks: l.calls.chunks}
	r.completions = streamReader{spool: j.Spool, chunks: l.completions.chunks}
	r.posts = streamReader{spool: j.Spool, chunks: l.posts.chunks}
	return r
}

// Next goes to the next call of a slab; false at its end.
func (r *Reader) Next() bool {
	c := &r.calls
	if !c.more() {
		return false
	}
	flags := c.byte()
	if flags == endOfSlab {
		return false
	}
	terminal, at := unsigned(c.b, c.at)
	gap, at := signed(c.b, at)
	took, at := unsigned(c.b, at)
	c.at = at
	r.Terminal = int32(terminal)
	r.Poll = polling.Poll(flags >> pollShift)
	r.Posted, r.Completes = flags&isPosted != 0, flags&completes != 0
	o := &r.Record
	o.Outside = flags&isOutside != 0
	o.Enter = o.Exit + gap
	o.Exit = o.Enter + int64(took)
	o.Held = 0
	if flags&wasHeld != 0 {
		o.Held = c.signed()
	}
	o.Index = r.next
	r.next++
	r.Place = r.log.places[r.Terminal]
	o.Function, o.Semantics = r.log.functions[r.Terminal], r.log.semantics[r.Terminal]
	o.Signature = &r.log.signatures[r.Terminal]
	r.Entries = r.Entries[:0]
	if flags&entersCollective != 0 {
		for range c.unsigned() {
			r.number += uint64(c.signed())
			shape := r.log.shapes[c.unsigned()]
			e := Entry{Number: r.number, Shape: shape, Part: int(c.signed()) + o.Location}
			if shape.Movement != semantics.NoMovement {
				r.buffer += c.signed()
				e.Bytes = r.buffer
			}
			r.Entries = append(r.Entries, e)
		}
	}
	return true
}

// Dependents is how many calls depend on the present one, which is Posted; Kept where that is not known.
func (r *Reader) Dependents() int {
	if !r.posts.more() {
		return 0
	}
	return int(r.posts.byte())
}

// Completion tells since when the present call, which Completes, has been waiting, and on what it depends. Valid until it
// is called again.
func (r *Reader) Completion() (begin int64, depends []Dependency) {
	c := &r.completions
	begin = r.Record.Enter
	if !c.more() {
		return begin, nil // the matcher never came to know
	}
	header := c.unsigned()
	if header&1 != 0 {
		begin -= int64(c.unsigned())
	}
	r.depends = r.depends[:0]
	for range header >> 1 {
		d := Dependency{Awaited: -1, Hops: 1}
		switch kind := c.byte(); kind & kindMask {
		case onHandshake:
			d.On.Location = int32(int64(r.Record.Location) + c.signed())
			r.ordinal = uint32(int64(r.ordinal) + c.signed())
			d.On.Ordinal, d.Bytes = r.ordinal, c.signed()
			d.From = int(d.On.Location)
			d.Handshake, d.Hops = true, int32(kind>>legsShift&3)
			d.Own, d.Always, d.Inert = kind&ownCall != 0, kind&alwaysShakes != 0, kind&isInert != 0
		case onMessage, onSuchAnother, onEntry:
			d.On.Location = int32(int64(r.Record.Location) + c.signed())
			r.ordinal = uint32(int64(r.ordinal) + c.signed())
			d.On.Ordinal = r.ordinal
			d.From = int(d.On.Location)
			switch kind {
			case onEntry:
				d.Hops = int32(c.unsigned())
			case onMessage:
				r.bytes = c.signed()
				d.Bytes = r.bytes
			default:
				d.Bytes = r.bytes
			}
		default:
			r.left += uint64(c.signed())
			d.Number = r.left
			if kind == onCollective {
				d.Part = r.Record.Location + int(c.signed())
				d.Awaited = d.Part + int(c.signed())
				d.From = r.Record.Location + int(c.signed())
			}
		}
		r.depends = append(r.depends, d)
	}
	return begin, r.depends
}

// Err tells what went wrong in reading.
func (r *Reader) Err() error {
	for _, s := range [...]*streamReader{&r.calls, &r.completions, &r.posts} {
		if s.err != nil {
			return s.err
		}
	}
	return nil
}
