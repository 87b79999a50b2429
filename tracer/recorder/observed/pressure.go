package observed

import (
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// Pressure returns what the kernel counted for the process's cgroup (format: pressure.c); nil if
// nothing is known.
func (o Content) Pressure() *trace.Pressure {
	part := o.upTo(rawlayout.ObservedEvidence)
	word := words(part[min(rawlayout.ObservedPressure, len(part)):], rawlayout.PressureMagic, rawlayout.PressureBytes)
	if word == nil {
		return nil
	}
	count := func(at int) int64 { return max(trace.Unknown, min(word(at), 1<<60)) }
	return &trace.Pressure{
		MemoryNS: count(rawlayout.PressureMemoryNSAt), IONS: count(rawlayout.PressureIONSAt),
		MemoryLimitHits: count(rawlayout.PressureMemoryLimitHitsAt),
	}
}
