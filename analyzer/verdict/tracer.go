package verdict

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// tracer is about the tracer itself.
type tracer struct{ *Cause }

func (t tracer) isOfWaits() bool { return t.Form == Compressor }
func (t tracer) isCounted() bool { return t.Form == Compressor }

func (t tracer) charge() Charge {
	if t.Form == Compressor {
		return Charge{Row: RowPreempted, Most: t.CompressorSeconds}
	}
	return Charge{}
}

func (t tracer) sentence() string {
	if t.Form == Compressor {
		return fmt.Sprintf("the tracer itself makes this job slow: its compressor took %s of CPU time, and ranks waited for a CPU for %s",
			wording.Duration(t.CompressorSeconds), wording.Duration(t.WaitedSeconds))
	}
	return "the tracer itself makes this job slow"
}

func (tracer) short() string { return "the tracer" }

func (t tracer) advice(Neighbors) []string {
	if t.Form == Compressor {
		return []string{
			"Leave a CPU of each node to the tracer (one rank less there), or trace less: in another mode, or without the groups of calls that you do not need (spec.tracer).",
		}
	}
	return []string{"Trace less: without call paths, in another mode, or without the groups of calls that you do not need (spec.tracer)."}
}
