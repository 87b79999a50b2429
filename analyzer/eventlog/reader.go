package eventlog

import (
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// A Reader reads the calls of one location in order.
type Reader struct {
	// The present call:
	Record    timeline.Record
	Terminal  int32
	CallSite  int32 // index into Log.CallSites
	Poll      polling.Poll
	Posted    bool // others may depend on it; see Dependents
	Completes bool // it may depend on others; see Completion
	Entries   []Entry

	log                       *Log
	calls, completions, posts streamReader
	next                      uint64 // index of the next call
	number, left              uint64
	ordinal                   uint32
	bytes, buffer             int64
	depends                   []Dependency
}

// An Entry is an entry into a collective operation.
type Entry struct {
	Number uint64 // number of the operation
	Shape  *Shape
	Part   int
	Bytes  int64 // size of the call's largest buffer
}

// A Dependency is an event that a call cannot end before: another call (On), or, if On.Ordinal is
// 0, the entries of others into a collective operation that its part needs.
type Dependency struct {
	On      match.EventID
	Bytes   int64
	Hops    int32 // distance of another call in latencies
	Number  uint64
	Part    int // own part in the operation
	Awaited int // the part that entered last of those that it needs; −1: it needs none
	From    int // location of Awaited or On

	// For a message that makes a handshake if the network has one for its size (or Always):
	Handshake bool // Hops counts its latencies; without a handshake the data takes one and the other steps none
	Own       bool // the call is one of the same thread; its time is not a measurement of the network
	Always    bool
	Inert     bool // the call did not wait for it, so its time is irrelevant
}

// Kept is the number of dependents if it is not known.
const Kept = kept

// Read returns a Reader of a location.
func (j *Log) Read(location int) *Reader {
	l := &j.logs[location]
	r := &Reader{log: j, next: l.first}
	r.Record.Location = location
	r.calls = streamReader{spool: j.Spool, chunks: l.calls.chunks}
	r.completions = streamReader{spool: j.Spool, chunks: l.completions.chunks}
	r.posts = streamReader{spool: j.Spool, chunks: l.posts.chunks}
	return r
}

// Next advances to the next call of a slab. It reports false at the end of the slab.
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
	o.Overhead = 0
	if flags&hasOverhead != 0 {
		o.Overhead = c.signed()
	}
	o.Index = r.next
	r.next++
	r.CallSite = r.log.callSites[r.Terminal]
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

// Dependents returns the number of calls that depend on the present one, Kept if it is not known. A
// caller that uses it must call it for every call that is Posted.
func (r *Reader) Dependents() int {
	if !r.posts.more() {
		return 0
	}
	return int(r.posts.byte())
}

// Completion returns the start of the present call's wait and its dependencies. A caller that uses
// it must call it for every call that Completes. depends is valid until the next one.
func (r *Reader) Completion() (begin int64, depends []Dependency) {
	c := &r.completions
	begin = r.Record.Enter
	if !c.more() {
		return begin, nil // the matcher did not settle it
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
			d.Own, d.Always, d.Inert = kind&ownCall != 0, kind&alwaysHandshake != 0, kind&isInert != 0
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

// Err returns the first error in reading.
func (r *Reader) Err() error {
	for _, s := range [...]*streamReader{&r.calls, &r.completions, &r.posts} {
		if s.err != nil {
			return s.err
		}
	}
	return nil
}
