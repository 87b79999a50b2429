package trace

import "github.com/cairn-mpi/cairn/trace/codec"

// A TracerUsage is what tracing itself took of a process, as its tracer saw it last; the CPU time of the tracer's threads is
// among Rank.Threads. A trace holds it Rounded, times as RoundedNS, bytes in units of 64 KiB.
type TracerUsage struct {
	Stalls         int64 // how often a thread of the program waited for a free buffer
	StalledNS      int64 // for how long in all
	LongestStallNS int64
	MemoryBytes    int64 // that the tracer's runtime had of the system
	MostMemory     int64 // and at most, bytes
	MostSpool      int64 // of its files in the spool, bytes at most
	WrittenBytes   int64 // to these files, beside the records themselves
}

const (
	tracerStalls = iota
	tracerStalled
	tracerLongest
	tracerMemory
	tracerMostMemory
	tracerMostSpool
	tracerWritten
	tracerColumns
)

// tracerUnit is in which steps bytes are known.
const tracerUnit = 1 << 16

func (u *TracerUsage) columns() [tracerColumns]int64 {
	bytes := func(n int64) int64 { return min(codec.RoundedCode(codec.InUnits(n, tracerUnit)), mostTracerUnits) }
	return [tracerColumns]int64{
		codec.RoundedCode(u.Stalls), codec.RoundedNSCode(u.StalledNS), codec.RoundedNSCode(u.LongestStallNS), bytes(u.MemoryBytes), bytes(u.MostMemory), bytes(u.MostSpool), bytes(u.WrittenBytes),
	}
}

func tracerUsageOf(at func(column int) int64) *TracerUsage {
	bytes := func(column int) int64 { return codec.Unrounded(at(column)) * tracerUnit }
	return &TracerUsage{
		Stalls: codec.Unrounded(at(tracerStalls)), StalledNS: codec.UnroundedNS(at(tracerStalled)), LongestStallNS: codec.UnroundedNS(at(tracerLongest)),
		MemoryBytes: bytes(tracerMemory), MostMemory: bytes(tracerMostMemory), MostSpool: bytes(tracerMostSpool), WrittenBytes: bytes(tracerWritten),
	}
}

// appendTracers writes what tracing took of ranks: how many rows each has (none or one), then the rows.
func appendTracers(t *RankTable) []byte {
	s := newSection()
	s.Sequence(t.tracers.Counts())
	if t.tracers.N > 0 {
		s.measuredFrom(&t.tracers, 0, codec.GroupRows(make([]int64, t.tracers.N)))
	}
	return s.Body
}

// mostTracerUnits keeps a number of bytes, read as a code, within int64.
const mostTracerUnits = 40 << codec.RoundedBits

// tracers reads what appendTracers wrote.
func (d *decoder) tracers(c *Content) {
	g := d.RaggedCounts(c.Ranks.Len(), tracerColumns)
	if g.N > 0 {
		alike := d.Grouping(g.N, func() []int64 { return make([]int64, g.N) })
		for k, most := range [tracerColumns]int64{codec.MaxRounded, codec.MaxRoundedNS, codec.MaxRoundedNS, mostTracerUnits, mostTracerUnits, mostTracerUnits, mostTracerUnits} {
			g.Columns[k] = d.Measured(alike, 0, most+1)
		}
	}
	if d.Err == nil {
		c.Ranks.tracers = g
	}
}
