package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// tracerOverhead is the time that the tracer takes.
type tracerOverhead struct{}

// suggest assumes that the tracer has no overhead.
func (tracerOverhead) suggest(e *evidence) []Hypothesis {
	overhead := int64(0)
	for i := range e.Each {
		overhead += e.Each[i].Overhead
	}
	if !e.isWorthIt(overhead / int64(max(1, len(e.Each)))) {
		return nil
	}
	h := Hypothesis{width: ofAll, Cause: verdict.Cause{Kind: verdict.Tracer}, estimated: overhead / int64(max(1, len(e.Each)))}
	h.What, h.Assumes = "the tracer took no time", "An estimate: what it kept each thread for, on average."
	return []Hypothesis{h}
}
