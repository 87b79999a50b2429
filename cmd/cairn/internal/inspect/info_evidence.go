package inspect

import (
	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/trace"
)

// rankEvidence is what the operating system counted for a rank's threads during long computations
// and long calls (docs/evidence.md). Unknown values are null.
type rankEvidence struct {
	Rank      int                `json:"rank"`
	Rows      []evidenceRow      `json:"rows"`
	Instances []evidenceInstance `json:"instances"` // the largest
	Threads   []threadUsage      `json:"threads"`
}

// evidenceRow is a computation between two calls, or a call; then after is null.
type evidenceRow struct {
	Thread          int           `json:"thread"`
	After           *evidenceCall `json:"after"`
	Before          evidenceCall  `json:"before"`
	Measured        uint64        `json:"measured"` // long instances; the following fields cover only these
	WallSeconds     float64       `json:"wall_seconds"`
	CPUSeconds      float64       `json:"cpu_seconds"`
	RunDelaySeconds *float64      `json:"run_delay_seconds"`
	BlockedSeconds  *float64      `json:"blocked_seconds"`
	// of the process's other threads, without those of the tracer
	OtherCPUSeconds *float64 `json:"other_cpu_seconds"`
	IOBytes         *int64   `json:"io_bytes"`
	IOCalls         *int64   `json:"io_calls"`
	DataSeconds     *float64 `json:"data_seconds"`
	evidenceUsage
}

// evidenceUsage is what getrusage counts for a thread.
type evidenceUsage struct {
	MinorFaults         *int64   `json:"minor_faults"`
	MajorFaults         *int64   `json:"major_faults"`
	VoluntarySwitches   *int64   `json:"voluntary_switches"`
	InvoluntarySwitches *int64   `json:"involuntary_switches"`
	SystemSeconds       *float64 `json:"system_seconds"` // null if the CPU time is less than a second
}

func usageOf(u *trace.Usage, cpu int64) evidenceUsage {
	of := evidenceUsage{known(u.MinorFaults), known(u.MajorFaults), known(u.VoluntarySwitches), known(u.InvoluntarySwitches), nil}
	if ns, ok := u.SystemTime(cpu); ok {
		of.SystemSeconds = knownSeconds(ns)
	}
	return of
}

type evidenceCall struct {
	Function string `json:"function"`
	CallSite string `json:"call_site"`
}

type evidenceInstance struct {
	Row             int      `json:"row"` // index into rows
	BeginNS         int64    `json:"begin_ns"`
	WallSeconds     float64  `json:"wall_seconds"`
	CPUSeconds      float64  `json:"cpu_seconds"`
	RunDelaySeconds *float64 `json:"run_delay_seconds"`
	IOBytes         *int64   `json:"io_bytes"`
	evidenceUsage
}

type threadUsage struct {
	TID             int      `json:"tid"`
	Name            string   `json:"name"`
	CPUSeconds      float64  `json:"cpu_seconds"`
	RunDelaySeconds *float64 `json:"run_delay_seconds"`
	CallsMPI        bool     `json:"calls_mpi"`
	Tracer          bool     `json:"tracer"`
}

func evidenceOf(f *tracefile.File, r *trace.Rank) rankEvidence {
	e := rankEvidence{Rank: r.Rank, Rows: []evidenceRow{}, Instances: []evidenceInstance{}, Threads: []threadUsage{}}
	for i := range r.Evidence {
		row := &r.Evidence[i]
		p := evidenceRow{
			Thread: row.Thread, Before: *nameOfCall(f, row.Before), After: nameOfCall(f, row.After), Measured: row.Count,
			WallSeconds: float64(row.WallNS) / 1e9, CPUSeconds: float64(row.CPUNS) / 1e9, RunDelaySeconds: knownSeconds(row.RunDelayNS),
			OtherCPUSeconds: knownSeconds(row.OtherCPUNS), IOBytes: known(row.IOBytes), IOCalls: known(row.IOCalls),
			DataSeconds: knownSeconds(row.DataNS), evidenceUsage: usageOf(&row.Usage, row.CPUNS),
		}
		if ns, ok := row.BlockedNS(); ok {
			p.BlockedSeconds = knownSeconds(ns)
		}
		e.Rows = append(e.Rows, p)
	}
	for i := range r.Outliers {
		o := &r.Outliers[i]
		e.Instances = append(e.Instances, evidenceInstance{
			Row: o.Row, BeginNS: o.BeginNS, WallSeconds: float64(o.WallNS) / 1e9, CPUSeconds: float64(o.CPUNS) / 1e9,
			RunDelaySeconds: knownSeconds(o.RunDelayNS), IOBytes: known(o.IOBytes),
			evidenceUsage: usageOf(&o.Usage, o.CPUNS),
		})
	}
	for _, t := range r.Threads {
		e.Threads = append(e.Threads, threadUsage{t.TID, t.Name, float64(t.CPUNS) / 1e9, knownSeconds(t.RunDelayNS), t.CallsMPI, t.Tool})
	}
	return e
}

// nameOfCall returns nil if there is no call.
func nameOfCall(f *tracefile.File, p trace.CallSite) *evidenceCall {
	if p == (trace.CallSite{}) {
		return nil
	}
	c := &evidenceCall{}
	if function := f.Function(p.Function); function != nil {
		c.Function = function.Name
	}
	if p.Site > 0 {
		c.CallSite = callsite.Name(&f.Sites()[p.Site-1])
	}
	return c
}

func known(v int64) *int64 {
	if v < 0 {
		return nil
	}
	return &v
}

func knownSeconds(ns int64) *float64 {
	if ns < 0 {
		return nil
	}
	s := float64(ns) / 1e9
	return &s
}
