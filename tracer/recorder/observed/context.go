package observed

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// The shim samples what the operating system counts for a process (format: context.c). The file has
// a word with the index of the valid table and its number of samples, then the two tables.
type contextFile struct {
	Magic        [8]byte
	Count, Valid uint32
	Tables       [2][rawlayout.ContextSamples][rawlayout.ContextSampleBytes / 8]int64
}

// decodeContext returns the samples, nil if the format is unknown.
func decodeContext(b []byte) []trace.ContextSample {
	var f contextFile
	if _, err := binary.Decode(b, binary.NativeEndian, &f); err != nil || string(f.Magic[:]) != rawlayout.ContextMagic ||
		f.Count > rawlayout.ContextSamples || f.Valid > 1 {
		return nil
	}
	samples := make([]trace.ContextSample, f.Count)
	for i, s := range f.Tables[f.Valid][:f.Count] {
		samples[i] = trace.ContextSample{
			MonotonicNS:         s[rawlayout.ContextSampleMonotonicNSAt/8],
			CPUNS:               s[rawlayout.ContextSampleCPUNSAt/8],
			VoluntarySwitches:   s[rawlayout.ContextSampleVoluntaryAt/8],
			InvoluntarySwitches: s[rawlayout.ContextSampleInvoluntaryAt/8],
			ThrottledPeriods:    s[rawlayout.ContextSampleThrottledPeriodsAt/8],
			ThrottledNS:         s[rawlayout.ContextSampleThrottledNSAt/8],
			CPU:                 s[rawlayout.ContextSampleCPUAt/8],
			RunDelayNS:          s[rawlayout.ContextSampleRunDelayNSAt/8],
			StealNS:             s[rawlayout.ContextSampleStealNSAt/8],
		}
	}
	return samples
}
