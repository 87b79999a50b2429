package trace

import "github.com/cairn-mpi/cairn/trace/codec"

// A TracerUsage is the cost of tracing a process, as its tracer last reported it. A trace stores
// counts Rounded, times as RoundedNS, and bytes in units of 64 KiB.
type TracerUsage struct {
	Stalls         int64 // how often a thread of the program changed its record buffer, in a call
	StalledNS      int64 // for how long in total
	LongestStallNS int64
	MemoryBytes    int64 // memory that the tracer's runtime had from the system
	MostMemory     int64 // its maximum, in bytes
	MostSpool      int64 // maximum size of its files in the spool, in bytes
	WrittenBytes   int64 // bytes written to these files, without the records themselves
	CPUNS          int64 // CPU time that the compressor took for its records; 0: none, or unknown
}

const (
	tracerStalls = iota
	tracerStalled
	tracerLongest
	tracerMemory
	tracerMostMemory
	tracerMostSpool
	tracerWritten
	tracerCPU // in a section of its own: older traces do not have it
	tracerColumns
)

// tracerUnit is the resolution of sizes in bytes.
const tracerUnit = 1 << 16

func (u *TracerUsage) columns() [tracerColumns]int64 {
	bytes := func(n int64) int64 { return min(codec.RoundedCode(codec.InUnits(n, tracerUnit)), maxTracerUnits) }
	return [tracerColumns]int64{
		codec.RoundedCode(u.Stalls), codec.RoundedNSCode(u.StalledNS), codec.RoundedNSCode(u.LongestStallNS), bytes(u.MemoryBytes), bytes(u.MostMemory), bytes(u.MostSpool), bytes(u.WrittenBytes),
		codec.RoundedNSCode(u.CPUNS),
	}
}

func tracerUsageOf(at func(column int) int64) *TracerUsage {
	bytes := func(column int) int64 { return codec.Unrounded(at(column)) * tracerUnit }
	return &TracerUsage{
		Stalls: codec.Unrounded(at(tracerStalls)), StalledNS: codec.UnroundedNS(at(tracerStalled)), LongestStallNS: codec.UnroundedNS(at(tracerLongest)),
		MemoryBytes: bytes(tracerMemory), MostMemory: bytes(tracerMostMemory), MostSpool: bytes(tracerMostSpool), WrittenBytes: bytes(tracerWritten),
		CPUNS: codec.UnroundedNS(at(tracerCPU)),
	}
}

// appendTracers writes the cost of tracing of ranks: the number of rows of each rank (0 or 1), then
// the rows, without CPU times.
func appendTracers(t *RankTable) []byte {
	s := newSection()
	s.Sequence(t.tracers.Counts())
	if t.tracers.N > 0 {
		s.measuredBetween(&t.tracers, 0, tracerCPU, codec.GroupRows(make([]int64, t.tracers.N)))
	}
	return s.Body
}

// appendCompressors writes the CPU times of the compressor, for the ranks that appendTracers wrote.
func appendCompressors(t *RankTable) []byte {
	s := newSection()
	s.measuredFrom(&t.tracers, tracerCPU, codec.GroupRows(make([]int64, t.tracers.N)))
	return s.Body
}

// maxTracerUnits bounds codes of sizes, so that the size in bytes fits into an int64.
const maxTracerUnits = 40 << codec.RoundedBits

// tracers reads what appendTracers wrote.
func (d *decoder) tracers(c *Content) {
	g := d.RaggedCounts(c.Ranks.Len(), tracerColumns)
	if g.N > 0 {
		alike := d.Grouping(g.N, func() []int64 { return make([]int64, g.N) })
		for k, limit := range [tracerCPU]int64{codec.MaxRounded, codec.MaxRoundedNS, codec.MaxRoundedNS, maxTracerUnits, maxTracerUnits, maxTracerUnits, maxTracerUnits} {
			g.Columns[k] = d.Measured(alike, 0, limit+1)
		}
	}
	if d.Err == nil {
		g.Columns[tracerCPU].PushRun(0, 0, g.N)
		c.Ranks.tracers = g
	}
}

// compressors reads what appendCompressors wrote. The cost of tracing must have been read.
func (d *decoder) compressors(c *Content) {
	g := &c.Ranks.tracers
	alike := d.Grouping(g.N, func() []int64 { return make([]int64, g.N) })
	cpu := d.Measured(alike, 0, codec.MaxRoundedNS+1)
	if d.Err == nil {
		g.Columns[tracerCPU] = cpu
	}
}

// hasCompressors reports whether the CPU time of a compressor is known.
func (t *RankTable) hasCompressors() bool {
	return t.tracers.N > 0 && !t.tracers.Columns[tracerCPU].Within(0, 1)
}
