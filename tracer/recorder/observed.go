package recorder

import "github.com/cairn-mpi/cairn/trace"

// What the shim observes of a process beside its calls is one file (tracer/shim/observed.h): the process's life, its context
// and the evidence, each from its own offset. Where the spool was all but full it ends after the first.
const (
	observedFile     = "observed"
	observedContext  = 512
	observedEvidence = 8192
	maxObserved      = 16 << 20
)

// An observedContent is the content of the file, empty where there was none.
type observedContent []byte

// life is the process's life; nothing is known of one that is of another format.
func (o observedContent) life() life { return decodeLife(o.upTo(observedContext)) }

// context are the samples of what the operating system counts, nil where there is something else.
func (o observedContent) context() []trace.ContextSample {
	return decodeContext(o.upTo(observedEvidence)[len(o.upTo(observedContext)):])
}

// evidence is what was measured of long computations and calls, nil where there is something else. site finds a call site by
// the address in a record.
func (o observedContent) evidence(site func(word uint64) int32) *evidence {
	return decodeEvidence(o[len(o.upTo(observedEvidence)):], site)
}

func (o observedContent) upTo(end int) []byte { return o[:min(end, len(o))] }
