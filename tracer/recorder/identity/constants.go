package identity

import (
	"math"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// constants are the named values of a kind.
type constants struct {
	table    *Table // raw -> −1 − index
	min, max int64  // bounds of the values
}

func newConstants(table *Table) *constants {
	c := &constants{table: table, min: math.MaxInt64, max: math.MinInt64}
	table.each(func(key uint64, _ int32) { c.min, c.max = min(c.min, int64(key)), max(c.max, int64(key)) })
	return c
}

func (c *constants) lookup(raw uint64) (int32, bool) {
	if c == nil || int64(raw) < c.min || int64(raw) > c.max {
		return 0, false
	}
	return c.table.Get(raw)
}

// tablesOf returns, per kind, raw value -> −1 − index into named. The first name of a value wins.
// Addresses that replace an array (MPI_UNWEIGHTED) have tables of their own: as elements of an
// array, the same numbers are plain numbers.
func tablesOf(named []record.Constant) (values, sentinels map[mpi.Kind]*Table) {
	values, sentinels = map[mpi.Kind]*Table{}, map[mpi.Kind]*Table{}
	for i, c := range named {
		kind, ok := mpi.KindByName(c.Kind)
		if !ok {
			continue
		}
		tables := values
		if spec := mpi.ConstantByName(c.Name); spec != nil && spec.Pointer && !isAddress(kind) {
			tables = sentinels
		}
		t := tables[kind]
		if t == nil {
			t = NewTable()
			tables[kind] = t
		}
		if _, taken := t.Get(uint64(c.Value)); !taken {
			t.Put(uint64(c.Value), int32(-1-i))
		}
	}
	return values, sentinels
}

// isAddress reports whether the values of a kind are themselves addresses.
func isAddress(kind mpi.Kind) bool {
	return kind == mpi.KindBuffer || kind == mpi.KindPointer || kind == mpi.KindFunction
}
