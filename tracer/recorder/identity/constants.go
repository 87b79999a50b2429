package identity

import (
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// constants are the named values of a kind.
type constants struct {
	table    map[uint64]int32 // raw -> −1 − index; nil: none
	min, max int64            // bounds of the values
}

// with returns the table for one more value.
func (c *constants) with(raw uint64) map[uint64]int32 {
	if c.table == nil {
		*c = constants{table: map[uint64]int32{}, min: int64(raw), max: int64(raw)}
	}
	c.min, c.max = min(c.min, int64(raw)), max(c.max, int64(raw))
	return c.table
}

func (c *constants) lookup(raw uint64) (int32, bool) {
	if int64(raw) < c.min || int64(raw) > c.max {
		return 0, false
	}
	v, ok := c.table[raw]
	return v, ok
}

// define adds a constant of a kind. The first name of a value wins. Addresses that replace an array
// (MPI_UNWEIGHTED) have tables of their own: as elements of an array, the same numbers are plain
// numbers.
func (o *Objects) define(kind mpi.Kind, c record.Constant, value int32) {
	raw := uint64(c.Value)
	var table map[uint64]int32
	switch spec := mpi.ConstantByName(c.Name); {
	case spec != nil && spec.Pointer && !IsAddress(kind):
		table = o.sentinels[kind].with(raw)
	case kind == mpi.KindRequest:
		table = o.Requests.table
	case o.Dense(kind):
		table = o.handles[kind].table
	default:
		table = o.constants[kind].with(raw)
	}
	if _, taken := table[raw]; !taken {
		table[raw] = value
	}
}

// IsAddress reports whether the values of a kind are themselves addresses.
func IsAddress(kind mpi.Kind) bool {
	return kind == mpi.KindBuffer || kind == mpi.KindPointer || kind == mpi.KindFunction
}
