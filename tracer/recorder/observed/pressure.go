package observed

import (
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// Pressure returns what the kernel counted for the process's cgroup and its TCP connections
// (format: pressure.c); nil if nothing is known.
func (o Content) Pressure() (*trace.Pressure, *trace.TCPUsage) {
	part := o.upTo(rawlayout.ObservedEvidence)
	word := words(part[min(rawlayout.ObservedPressure, len(part)):], rawlayout.PressureMagic, rawlayout.PressureBytes)
	if word == nil {
		return nil, nil
	}
	count := func(at int) int64 { return max(trace.Unknown, min(word(at), 1<<60)) }
	p := &trace.Pressure{
		MemoryNS: count(rawlayout.PressureMemoryNSAt), IONS: count(rawlayout.PressureIONSAt),
		MemoryLimitHits: count(rawlayout.PressureMemoryLimitHitsAt),
	}
	if *p == (trace.Pressure{MemoryNS: trace.Unknown, IONS: trace.Unknown, MemoryLimitHits: trace.Unknown}) {
		p = nil
	}
	c := &trace.TCPUsage{Segments: count(rawlayout.PressureSegmentsAt), Retransmits: count(rawlayout.PressureRetransmitsAt)}
	if c.Segments < 0 || c.Retransmits < 0 {
		c = nil
	}
	return p, c
}
