package main

import (
	"fmt"

	"github.com/cairn-mpi/cairn/trace"
)

// rankTracing is what tracing itself took of a rank. What it adds to each call, on the thread that makes it, nobody measures
// while the program runs (make bench-tracer).
type rankTracing struct {
	Rank        int      `json:"rank"`
	CPUSeconds  *float64 `json:"cpu_seconds"`  // of the tracer's own threads; null: not known
	HeldSeconds float64  `json:"held_seconds"` // for how long its threads stood still for a vote of clustered mode
	TimingBytes int64    `json:"timing_bytes"` // of the trace, that are of this rank alone
}

// addTracing adds what tracing took of each rank, in the order of the ranks.
func (i *information) addTracing(f *traceFile) {
	i.Tracing = make([]rankTracing, f.Ranks().Len())
	for n, rank := range f.Ranks().All() {
		i.Tracing[n] = rankTracing{Rank: rank.Rank, CPUSeconds: tracerCPU(&rank)}
	}
	for n, thread := range f.Threads().All() {
		row := f.Ranks().Find(thread.Rank)
		if row < 0 {
			continue
		}
		t := &i.Tracing[row]
		t.TimingBytes += f.TimingBytes(n)
		if held := thread.Held(); held > 0 {
			rank := f.Ranks().At(row)
			t.HeldSeconds += float64(rank.Clock.AtMost(held)) / 1e9
		}
	}
}

// tracerCPU is the CPU time of the tracer's own threads.
func tracerCPU(r *trace.Rank) *float64 {
	var ns int64
	if len(r.Threads) == 0 {
		return nil
	}
	for _, t := range r.Threads {
		if t.Tool {
			ns += t.CPUNS
		}
	}
	return knownSeconds(ns)
}

// tracingRow says what tracing took of ranks, and of which most.
func (i *information) tracingRow(row func(name string, value any)) {
	var cpu, most float64
	known, worst := 0, 0
	bytes := int64(0)
	for _, t := range i.Tracing {
		bytes += t.TimingBytes
		if t.CPUSeconds == nil {
			continue
		}
		known++
		cpu += *t.CPUSeconds
		if *t.CPUSeconds > most {
			most, worst = *t.CPUSeconds, t.Rank
		}
	}
	if known > 0 {
		row("tracer", fmt.Sprintf("%.3g s of CPU a rank on threads of its own (most of rank %d: %.3g s), %d bytes of timing a rank",
			cpu/float64(known), worst, most, bytes/int64(len(i.Tracing))))
	}
}
