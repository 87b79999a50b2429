package key

import (
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
	"github.com/cairn-mpi/cairn/tracer/recorder/values"
)

// A Call is a record that becomes a terminal. It is valid until the next one.
type Call struct {
	Whole bool // all of its arguments are in the record
	// Effect is the operation of a successful call that changes more than the handles that it gives
	// or frees: the caller must do it between Read and Number. A Query returned the communicator to
	// the world that spawned this one. Unknown: the call changes nothing else.
	Effect semantics.Operation
	Extras record.Reader // what the record has beside the arguments; undefined without an effect

	// Known after Number.
	Values   values.Call // for the streams of the terminal
	Terminal int32
	Added    int    // bytes of memory that the call took in the table; 0: its signature was known
	Wide     bool   // numbers of the key were moved to streams (families.go)
	Varied   uint64 // hash of these numbers

	arguments
	known     int // number of fields that are in the record
	scratch   []int32
	thread    uint32
	untraced  bool // tracing was off before the call
	open      bool // the call has not returned
	left      bool // the program left it, or else the process ended in it
	failed    bool // outputs are not defined
	atRoot    bool // root-only parameters are significant
	comm      *identity.Communicator
	own       int32   // rank in it; none: unknown
	newID     int32   // of the communicator that the call creates
	request   uint64  // raw handle of the request that the call creates
	creates   bool    // the call creates a request
	described byte    // 1: the call creates a communicator, whose instance is its last stream
	creator   int32   // creating signature; none: the call creates no request
	named     []int32 // request ids, in the order of the parameters that may end them
	key       []byte
}

// arguments are the words of a record and where the fields are in them.
type arguments struct {
	*layout
	words []uint64
	at    []int32 // offsets of the fields
}

// reset prepares a call for another record. It sets every field except Extras, at and scratch. (A
// struct literal would be copied with write barriers.)
func (c *Call) reset(thread uint32, l *layout, rec record.Record, untraced bool) {
	c.Whole, c.Effect, c.Terminal, c.Added, c.Wide, c.Varied = false, semantics.Unknown, none, 0, false, 0
	c.Values.Reset()
	c.layout, c.words, c.known, c.thread, c.untraced, c.left = l, rec.Words, 0, thread, untraced, rec.IsLeft()
	c.open = rec.Open || c.left
	c.failed, c.atRoot, c.comm, c.own, c.newID = c.open, true, nil, none, none
	c.request, c.creates, c.described, c.creator = 0, false, 0, none
	c.named, c.key = c.named[:0], c.key[:0]
}

// locate finds the fields of a call in its record, and whether they are all there. It returns the
// offset of the extras.
func (c *Call) locate(rec record.Record) (extras int) {
	c.known = len(c.fields)
	if c.open {
		c.known = c.inputs
	}
	rd := record.Reader{Words: c.words, At: c.length, OK: c.length <= len(c.words)}
	if c.at = c.layout.at; c.length == 0 || c.open {
		c.scratch = slices.Grow(c.scratch[:0], c.known)
		c.at, rd.At, rd.OK = c.scratch[:c.known], record.HeaderWords, true
		for i := range c.at {
			c.at[i] = int32(rd.At)
			pass(&rd, c.fields[i].shape)
		}
	}
	if c.Whole = rd.OK && rec.Flags&record.FlagTruncated == 0; !c.Whole {
		c.known = 0
	}
	return rd.At
}

// defined reports whether the flag that a field depends on is true.
func (a *arguments) defined(f *field) bool { return f.flag == none || a.words[a.at[f.flag]] != 0 }

// elements are words of a field: a scalar, the elements of an array, or statuses.
type elements struct {
	words    []uint64
	at       int32  // offset of the first of them
	special  int    // as record.Reader returns them
	sentinel uint64 // of arrays only
}

// elements returns the words of a field. A status that is not defined has none.
func (a *arguments) elements(i int) (e elements) {
	rd := a.reader(i)
	switch f := &a.fields[i]; f.shape {
	case shapeArray:
		e.words, e.special, e.sentinel = rd.Array()
	case shapeStatuses:
		rd.Word() // whether the application ignored them
		e.words, e.special = rd.Statuses()
	case shapeStatus:
		rd.Word()
		if a.defined(f) {
			e.words = rd.Take(record.StatusWords)
		}
	default:
		e.words = rd.Take(1)
	}
	e.at = int32(rd.At - len(e.words))
	return e
}

// reader reads a field.
func (a *arguments) reader(i int) record.Reader {
	return record.Reader{Words: a.words, At: int(a.at[i]), OK: true}
}

// The word before a status says whether it is defined (0) or not (−1); if the program does not ask
// for it, it is one of these.
const (
	statusGivenAndIgnored  = 1
	statusAbsentAndIgnored = -2
)

// ignoresStatus reports whether the program passed MPI_STATUS(ES)_IGNORE, as far as known.
func (c *Call) ignoresStatus() bool {
	if c.status == none || c.status >= c.known {
		return false
	}
	w := int64(c.words[c.at[c.status]])
	return w == statusGivenAndIgnored || w == statusAbsentAndIgnored
}

// Words returns the record.
func (c *Call) Words() []uint64 { return c.words }

// AddInstance gives the signature the instance of the communicator that the call returned.
func (c *Call) AddInstance(instance int32) {
	c.described = 1
	c.Values.Push(int64(instance))
}

// Level returns the level of MPI_Pcontrol.
func (c *Call) Level() int32 { return int32(c.words[c.at[0]]) }

// Parent returns the handle of the communicator to the parents, of a call that returned it.
func (c *Call) Parent() uint64 { return c.words[c.at[c.parent]] }

// Creation describes a call that created a communicator.
func (c *Call) Creation() identity.Creation {
	return identity.Creation{How: c.semantics.Creation, Parent: c.comm, ID: c.newID, Tag: c.text()}
}

// text returns the tag or string tag of a creating call, or the name of one that names; "" if there
// is none.
func (c *Call) text() string {
	if c.label == none {
		return ""
	}
	rd := c.reader(c.label)
	if c.fields[c.label].kind == mpi.KindTag {
		return fmt.Sprint(int32(rd.Word()))
	}
	text, _, _ := rd.Text()
	return record.Printable(text)
}

// Name returns the communicator that a call named, and the name; nil if it named something else.
func (c *Call) Name() (*identity.Communicator, string) { return c.comm, c.text() }
