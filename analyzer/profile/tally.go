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
	data   []trace.Payload // by terminal, the same for all locations
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
	size := t.data[c.Event.Terminal].In(c.Event.In)
	k := key{function: c.Function.ID, site: c.Signature.Site, comm: int32(c.Event.Comm), class: noSize}
	switch {
	case size.Known:
		k.class = int8(bits.Len64(size.Bytes))
	case size.Moves:
		k.class = unsized
	}
	cell := t.recent.At(t.sums, k, k.hash())
	if t.to == 0 {
		t.from = c.Index
	}
	t.to = c.Index + 1
	cell.calls++
	cell.ns += c.Exit - c.Enter
	cell.bytes += size.Bytes
}
