package inspect

import (
	"fmt"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/trace"
)

// rankTracing is the cost of tracing for a rank. It does not include what tracing adds to each call
// on the calling thread: that is not measured at run time (see make bench-tracer).
type rankTracing struct {
	Rank        int     `json:"rank"`
	VoteSeconds float64 `json:"vote_seconds"` // for how long its threads were stopped for votes of clustered mode
	TimingBytes int64   `json:"timing_bytes"` // bytes of the trace that belong to this rank alone

	Process *ProcessTracing `json:"process"` // null: not known, or ended before the compressor had work
}

// ProcessTracing is the cost of tracing for a process.
type ProcessTracing struct {
	CPUSeconds          float64 `json:"cpu_seconds"`           // that the compressor took for its records
	MemoryBytes         int64   `json:"memory_bytes"`          // of the tracer's runtime, at its last measurement
	MaxMemoryBytes      int64   `json:"max_memory_bytes"`      // the maximum of these measurements
	Stalls              int64   `json:"stalls"`                // how often a thread changed its record buffer
	StallSeconds        float64 `json:"stall_seconds"`         // in total
	LongestStallSeconds float64 `json:"longest_stall_seconds"` // the longest of them
	MaxSpoolBytes       int64   `json:"max_spool_bytes"`       // of its files in the spool
	WrittenBytes        int64   `json:"written_bytes"`         // to the spool, without the records themselves
}

// addTracing adds the cost of tracing for each rank, in the order of the ranks.
func (i *Information) addTracing(f *tracefile.File) {
	i.Tracing = make([]rankTracing, f.Ranks().Len())
	for n, rank := range f.Ranks().All() {
		i.Tracing[n] = rankTracing{Rank: rank.Rank, Process: processTracingOf(rank.Tracer)}
	}
	for n, thread := range f.Threads().All() {
		row := f.Ranks().Find(thread.Rank)
		if row < 0 {
			continue
		}
		t := &i.Tracing[row]
		t.TimingBytes += f.TimingBytes(n)
		if held := thread.OverheadTicks(); held > 0 {
			rank := f.Ranks().At(row)
			t.VoteSeconds += float64(rank.Clock.AtMost(held)) / 1e9
		}
	}
}

func processTracingOf(u *trace.TracerUsage) *ProcessTracing {
	if u == nil {
		return nil
	}
	return &ProcessTracing{
		CPUSeconds:  float64(u.CPUNS) / 1e9,
		MemoryBytes: u.MemoryBytes, MaxMemoryBytes: u.MostMemory, Stalls: u.Stalls, StallSeconds: float64(u.StalledNS) / 1e9,
		LongestStallSeconds: float64(u.LongestStallNS) / 1e9, MaxSpoolBytes: u.MostSpool, WrittenBytes: u.WrittenBytes,
	}
}

// tracingRow prints the cost of tracing for the ranks.
func (i *Information) tracingRow(row func(name string, value any)) {
	if len(i.Tracing) == 0 {
		return
	}
	bytes := int64(0)
	for _, t := range i.Tracing {
		bytes += t.TimingBytes
	}
	row("tracer", fmt.Sprintf("%d bytes of timing per rank", bytes/int64(len(i.Tracing))))
	i.processRows(row)
}

// processRows prints the costs of processes: the highest of one, and the stalls of all.
func (i *Information) processRows(row func(name string, value any)) {
	var most, all ProcessTracing
	known, busiest, memory, spool, stalled := 0, 0, 0, 0, 0
	for _, t := range i.Tracing {
		p := t.Process
		if p == nil {
			continue
		}
		known++
		if p.CPUSeconds > most.CPUSeconds {
			most.CPUSeconds, busiest = p.CPUSeconds, t.Rank
		}
		if p.MaxMemoryBytes > most.MaxMemoryBytes {
			most.MaxMemoryBytes, memory = p.MaxMemoryBytes, t.Rank
		}
		if p.MaxSpoolBytes > most.MaxSpoolBytes {
			most.MaxSpoolBytes, spool = p.MaxSpoolBytes, t.Rank
		}
		if p.LongestStallSeconds > most.LongestStallSeconds {
			most.LongestStallSeconds, stalled = p.LongestStallSeconds, t.Rank
		}
		all.CPUSeconds += p.CPUSeconds
		all.MemoryBytes += p.MemoryBytes
		all.Stalls += p.Stalls
		all.StallSeconds += p.StallSeconds
		all.WrittenBytes += p.WrittenBytes
	}
	if known == 0 {
		return
	}
	const mib = 1 << 20
	if all.CPUSeconds > 0 { // else the trace is older than that measurement
		row("compressor", fmt.Sprintf("%.3g s of CPU per rank, at most %.3g s (rank %d)", all.CPUSeconds/float64(known), most.CPUSeconds, busiest))
	}
	row("tracer's memory", fmt.Sprintf("%.3g MiB per rank at the end, at most %.3g MiB (rank %d)",
		float64(all.MemoryBytes)/float64(known)/mib, float64(most.MaxMemoryBytes)/mib, memory))
	row("tracer's spool", fmt.Sprintf("at most %.3g MiB (rank %d), %.3g MiB per rank written in addition to the records",
		float64(most.MaxSpoolBytes)/mib, spool, float64(all.WrittenBytes)/float64(known)/mib))
	if all.Stalls == 0 {
		row("stalls", "none: no thread changed its record buffer")
		return
	}
	row("stalls", fmt.Sprintf("%d changes of a record buffer, %.3g s in total, the longest %.3g s (rank %d)",
		all.Stalls, all.StallSeconds, most.LongestStallSeconds, stalled))
}
