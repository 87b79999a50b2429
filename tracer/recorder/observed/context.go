package observed

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// The shim samples what the operating system counts for a process (format: context.c). The file has
// a word with the index of the valid table and its number of samples, then the two tables.
const (
	contextMagic  = rawlayout.ContextMagic
	maxContext    = rawlayout.ContextSamples
	contextFields = rawlayout.ContextSampleBytes / 8
	contextTable  = maxContext * rawlayout.ContextSampleBytes
)

// decodeContext returns the samples, nil if the format is unknown.
func decodeContext(b []byte) []trace.ContextSample {
	const header = rawlayout.ContextTableAt
	if len(b) < header+2*contextTable || string(b[:8]) != contextMagic {
		return nil
	}
	n, table := binary.NativeEndian.Uint32(b[8:]), binary.NativeEndian.Uint32(b[12:])
	if n > maxContext || table > 1 {
		return nil
	}
	b = b[header+int(table)*contextTable:]
	samples := make([]trace.ContextSample, n)
	for i := range samples {
		s := &samples[i]
		for _, field := range [contextFields]*int64{
			&s.MonotonicNS, &s.CPUNS, &s.VoluntarySwitches, &s.InvoluntarySwitches, &s.ThrottledPeriods, &s.ThrottledNS, &s.CPU,
			&s.RunDelayNS, &s.StealNS,
		} {
			*field = int64(binary.NativeEndian.Uint64(b))
			b = b[8:]
		}
	}
	return samples
}
