package criticalpath

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

func timingError(m *trace.Meta, moments int64) run.TimingError {
	return run.TimingError{Mode: string(m.Timing.Mode), ErrorPercent: m.Timing.WorstError(), MomentSeconds: float64(moments) / 1e9}
}

// uncertainShare is from which share of all waiting on a reader has to know that rounding may explain it.
const uncertainShare = 0.1

// roundingNote is what rounded times mean for the reader; "" for nothing: what was found is larger than their errors.
func roundingNote(a *allAccounts, f *forward) string {
	if f == nil || a.meta.Timing.Mode != timing.Lossy {
		return ""
	}
	waited, uncertain := int64(0), int64(0)
	for i := range f.kinds {
		waited += f.kinds[i].ns
		uncertain += f.kinds[i].uncertain
	}
	if float64(uncertain) <= uncertainShare*float64(waited) {
		return ""
	}
	return fmt.Sprintf("Times are rounded (%s), the moment of a call by up to %s: that may explain %s of the %s that ranks waited. --timing lossless keeps every time stamp.",
		a.meta.Timing.String(), wording.Duration(inSeconds(f.moments)), wording.Duration(inSeconds(uncertain)), wording.Duration(inSeconds(waited)))
}
