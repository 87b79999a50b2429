package profile

import (
	"math/bits"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
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
	noSize  = -1 // of a call without data
	unsized = -2 // of a call with data whose size is not known
)

type sum struct {
	calls uint64
	ns    int64
	bytes uint64
}

func (k key) hash() uint32 { return uint32(k.function)<<8 ^ k.site ^ uint32(uint8(k.class))<<16 }

// A Tally is the profile of one location.
type Tally struct {
	sums   map[key]*sum
	data   []payload // by terminal, the same for all locations
	recent recent.Cache[key, sum]
	// which calls were counted, if not all: those from the first on, and before the other
	cut      bool
	from, to uint64
}

// Call counts a call.
func (t *Tally) Call(c *timeline.Call) {
	if c.Outside {
		t.cut = true
		return
	}
	p := &t.data[c.Event.Terminal]
	k := key{function: c.Function.ID, site: c.Signature.Site, comm: int32(c.Event.Comm), class: noSize}
	bytes, has, sized := p.bytes(c.Event.In)
	switch {
	case has && !sized:
		k.class = unsized
	case has:
		k.class = int8(bits.Len64(bytes))
	}
	cell := t.recent.At(t.sums, k, k.hash())
	if t.to == 0 {
		t.from = c.Index
	}
	t.to = c.Index + 1
	cell.calls++
	cell.ns += c.Exit - c.Enter
	cell.bytes += bytes
}

// A payload says which inputs of a function tell how much data a call moves; −1: none.
type payload struct{ count, datatype int }

// payloadOf looks for the first count and the datatype after it, the send side where there are two.
func payloadOf(f *trace.Function) payload {
	p := payload{-1, -1}
	in := 0
	for _, parameter := range f.Parameters {
		if parameter.Direction == trace.Out {
			continue
		}
		switch parameter.Name {
		case "count", "sendcount", "sendcounts", "recvcount", "recvcounts", "origin_count":
			if p.count < 0 {
				p.count = in
			}
		case "datatype", "sendtype", "recvtype", "origin_datatype":
			if p.datatype < 0 {
				p.datatype = in
			}
		}
		in++
	}
	return p
}

// bytes of a call; has is false for one without data, sized where the datatype's size is known.
func (p *payload) bytes(in []trace.Value) (n uint64, has, sized bool) {
	if p.count < 0 || p.datatype < 0 || max(p.count, p.datatype) >= len(in) {
		return 0, false, false
	}
	size, known := int64(0), false
	if d := &in[p.datatype]; d.Form == trace.Name {
		size, known = trace.DatatypeSize(d.Text)
	}
	elements := int64(0)
	switch c := &in[p.count]; c.Form {
	case trace.Int:
		elements = c.Int
	case trace.List:
		for i := range c.List {
			elements += c.List[i].Int
		}
	default:
		return 0, false, false
	}
	if elements <= 0 {
		return 0, true, true
	}
	if !known {
		return 0, true, false
	}
	return uint64(elements * size), true, true
}
