package profile

import (
	"math/bits"

	"github.com/cairn-mpi/cairn/analyzer/datatypes"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/volume"
	"github.com/cairn-mpi/cairn/internal/recent"
	"github.com/cairn-mpi/cairn/trace"
)

// A key is a cell of the profile.
type key struct {
	function uint16
	class    int8 // bits of the size: 0 for 0 bytes, 1 for 1, 2 for 2 and 3, …; noSize
	site     uint32
	comm     int32
}

const (
	noSize  = -1 // call without data
	unsized = -2 // call with data of unknown size
)

type sum struct {
	calls uint64
	ns    int64
	bytes uint64
}

func (k key) hash() uint32 { return uint32(k.function)<<8 ^ k.site ^ uint32(uint8(k.class))<<16 }

// A payload is the amount of data that the calls of a terminal move.
type payload struct {
	volume.Payload
	communicators []trace.Communicator

	varies bool
	always volume.Size // size of all calls, unless it varies
	class  int8        // its class, unless it varies
}

func newPayload(of volume.Payload, s *trace.Signature, communicators []trace.Communicator) payload {
	p := payload{Payload: of, communicators: communicators}
	var same bool
	p.always, same = of.Always(s)
	p.varies, p.class = !same, classOf(p.always)
	return p
}

// of returns the size of a call, and its class.
func (p *payload) of(e *trace.Event) (volume.Size, int8) {
	if !p.varies {
		return p.always, p.class
	}
	size := p.Of(e, p.communicators)
	return size, classOf(size)
}

func classOf(size volume.Size) int8 {
	switch {
	case size.Known:
		return int8(bits.Len64(size.Bytes))
	case size.Moves:
		return unsized
	}
	return noSize
}

// A Tally is the profile of one location.
type Tally struct {
	sums   map[key]*sum
	data   []payload // by terminal, the same for all locations
	recent recent.Cache[key, sum]
	// the derived datatypes that the calls of this location have made, and their use
	types   datatypes.Table
	layouts map[siteKey]*Layout
	// the range from ≤ index < to of counted calls, if not all were
	cut      bool
	from, to uint64
}

// Call counts a call.
func (t *Tally) Call(c *timeline.Call) {
	t.types.See(c.Event)
	if c.Outside {
		t.cut = true
		return
	}
	size, class := t.data[c.Event.Terminal].of(c.Event)
	k := key{function: c.Function.ID, site: c.Signature.Site, comm: int32(c.Event.Comm), class: class}
	cell := t.recent.At(t.sums, k, k.hash())
	if t.to == 0 {
		t.from = c.Index
	}
	t.to = c.Index + 1
	cell.calls++
	cell.ns += c.Exit - c.Enter
	cell.bytes += size.Bytes
	t.layout(c)
}

// A siteKey is one function at one call site.
type siteKey struct {
	function uint16
	site     uint32
}

// layout counts the pieces of the data of a call with a derived datatype.
func (t *Tally) layout(c *timeline.Call) {
	datatype, elements := t.data[c.Event.Terminal].Derived(c.Event)
	if datatype == nil {
		return
	}
	if of, known := t.types.Of(datatype); known {
		if t.layouts == nil {
			t.layouts = map[siteKey]*Layout{}
		}
		k := siteKey{c.Function.ID, c.Signature.Site}
		if t.layouts[k] == nil {
			t.layouts[k] = &Layout{}
		}
		t.layouts[k].Add(Layout{1, uint64(of.BlocksOf(elements)), uint64(elements * of.Size)})
	}
}
