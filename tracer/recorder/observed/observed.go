package observed

import (
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// What the shim observes of a process beside its calls is one file (tracer/shim/evidence/observed.h): the process's life, its
// context and the evidence, each from its own offset. Where the spool was all but full it ends after the first.
const (
	FileName         = "observed"
	observedContext  = rawlayout.ObservedContext
	observedEvidence = rawlayout.ObservedEvidence
	MaxBytes         = 16 << 20
)

// An Content is the content of the file, empty where there was none.
type Content []byte

// Life is the process's life; nothing is known of one that is of another format.
func (o Content) Life() Life { return decodeLife(o.upTo(observedContext)) }

// Context are the samples of what the operating system counts, nil where there is something else.
func (o Content) Context() []trace.ContextSample {
	return decodeContext(o.upTo(observedEvidence)[len(o.upTo(observedContext)):])
}

// Evidence is what was measured of long computations and calls, nil where there is something else. site finds a call site by
// the address in a record.
func (o Content) Evidence(site func(word uint64) int32) *evidence {
	return decodeEvidence(o[len(o.upTo(observedEvidence)):], site)
}

func (o Content) upTo(end int) []byte { return o[:min(end, len(o))] }
