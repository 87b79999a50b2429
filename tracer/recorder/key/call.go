package key

import (
	"fmt"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
	"github.com/cairn-mpi/cairn/tracer/recorder/values"
)

// A Call is a record that becomes a terminal. It is valid until the next one.
type Call struct {
	Whole  bool          // all of its arguments are in the record
	Effect Effect        // what it changes; the caller must do it between Read and Number
	Extras record.Reader // what the record has beside the arguments; undefined without an effect

	// Known after Number.
	Values   values.Call // for the streams of the terminal
	Terminal int32
	Added    int    // bytes of memory that the call took in the table; 0: its signature was known
	Wide     bool   // numbers of the key were moved to streams (families.go)
	Varied   uint64 // hash of these numbers

	*layout
	words     []uint64
	in, out   []int32 // offsets of the parameters in the record, by index
	thread    uint32
	untraced  bool // tracing was off before the call
	failed    bool // outputs are not defined
	atRoot    bool // root-only parameters are significant
	comm      *identity.Communicator
	own       int32   // rank in it; none: unknown
	newID     int32   // of the communicator that the call creates
	request   uint64  // raw handle of the request that the call creates
	creates   bool    // the call creates a request
	described bool    // the call creates a communicator, whose instance is its last stream
	creator   int32   // creating signature; none: the call creates no request
	named     []int32 // request ids, in the order of the parameters that may end them
	key       []byte
}

// reset prepares a call for another record. It sets every field except Extras, in and out. (A
// struct literal would be copied with write barriers.)
func (c *Call) reset(thread uint32, l *layout, rec record.Record, untraced bool) {
	c.Whole, c.Effect, c.Terminal, c.Added, c.Wide, c.Varied = false, NoEffect, none, 0, false, 0
	c.Values.Reset()
	c.layout, c.words, c.thread, c.untraced = l, rec.Words, thread, untraced
	c.failed, c.atRoot, c.comm, c.own, c.newID = false, true, nil, none, none
	c.request, c.creates, c.described, c.creator = 0, false, false, none
	c.named, c.key = c.named[:0], c.key[:0]
}

// locate finds the parameters of a call in its record.
func (c *Call) locate(rd *record.Reader) {
	for i := range c.params {
		if p := &c.params[i]; p.in {
			c.in[i] = int32(rd.At)
			pass(rd, p.shape)
		}
	}
	for i := range c.params {
		if p := &c.params[i]; p.out {
			c.out[i] = int32(rd.At)
			pass(rd, p.shape)
		}
	}
}

// defined reports whether the flag that a parameter depends on is true.
func (c *Call) defined(p *parameter) bool {
	if p.spec.OnlyIf == 0 {
		return true
	}
	i := p.spec.OnlyIf - 1
	return c.params[i].out && c.params[i].shape == shapeWord && c.words[c.out[i]] != 0
}

// The word before a status: whether it is defined, and whether the program asked for it.
const (
	statusGiven            = 0
	statusGivenAndIgnored  = 1
	statusAbsent           = -1
	statusAbsentAndIgnored = -2
)

// ignoresStatus reports whether the program passed MPI_STATUS(ES)_IGNORE.
func (c *Call) ignoresStatus() bool {
	if c.status < 0 {
		return false
	}
	w := int64(c.words[c.out[c.status]])
	return w == statusGivenAndIgnored || w == statusAbsentAndIgnored
}

// Words returns the record.
func (c *Call) Words() []uint64 { return c.words }

// AddInstance gives the signature the instance of the communicator that the call returned.
func (c *Call) AddInstance(instance int32) {
	c.described = true
	c.Values.Push(int64(instance))
}

// Level returns the level of MPI_Pcontrol.
func (c *Call) Level() int32 { return int32(c.words[c.in[0]]) }

// Parent returns the handle of the communicator to the parents, of a call that returned it.
func (c *Call) Parent() uint64 { return c.words[c.out[c.parent]] }

// Creation describes a call that created a communicator.
func (c *Call) Creation() identity.Creation {
	return identity.Creation{Function: c.semantics, Parent: c.comm, ID: c.newID, Tag: c.tag()}
}

// tag returns the tag or string tag of a creating call.
func (c *Call) tag() string {
	for i := range c.params {
		p := &c.params[i]
		rd := record.Reader{Words: c.words, At: int(c.in[i]), OK: true}
		switch {
		case !p.in:
		case p.kind == mpi.KindTag:
			return fmt.Sprint(int32(rd.Word()))
		case p.kind == mpi.KindString:
			text, _, _ := rd.Text()
			return record.Printable(text)
		}
	}
	return ""
}

// Name returns the communicator that a call named, and the name; nil if there is none.
func (c *Call) Name() (*identity.Communicator, string) {
	for i := range c.params {
		if p := &c.params[i]; p.shape == shapeString && p.in {
			rd := record.Reader{Words: c.words, At: int(c.in[i]), OK: true}
			text, _, _ := rd.Text()
			return c.comm, record.Printable(text)
		}
	}
	return nil, ""
}
