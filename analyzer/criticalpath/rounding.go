package criticalpath

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// TimingError is what the mode of timing means for all times of the findings, beside the error of the clocks.
type TimingError struct {
	Mode string `json:"mode"` // "lossless", "lossy", "aggregated"
	// ErrorPercent is the largest error of a duration and of the time between two calls of a thread.
	ErrorPercent int `json:"error_percent"`
	// MomentSeconds is by how much the time of a call's enter or exit may be off at most.
	MomentSeconds float64 `json:"moment_seconds"`
}

func timingError(m *trace.Meta, moments int64) TimingError {
	return TimingError{Mode: string(m.Timing.Mode), ErrorPercent: m.Timing.WorstError(), MomentSeconds: float64(moments) / 1e9}
}

// uncertainShare is from which share of all waiting on a reader has to know that rounding may explain it.
const uncertainShare = 0.1

// roundingNote is what rounded times mean for the reader; "" for nothing: what was found is larger than their errors.
func (a *analysis) roundingNote() string {
	if a.meta.Timing.Mode != timing.Lossy {
		return ""
	}
	waited, uncertain := int64(0), int64(0)
	for i := range a.forward.kinds {
		waited += a.forward.kinds[i].ns
		uncertain += a.forward.kinds[i].uncertain
	}
	if float64(uncertain) <= uncertainShare*float64(waited) {
		return ""
	}
	return fmt.Sprintf("Times are rounded (%s), the moment of a call by up to %s: that may explain %s of the %s that ranks waited. --timing lossless keeps every time stamp.",
		a.meta.Timing.String(), wording.Duration(a.seconds(a.forward.moments)), wording.Duration(a.seconds(uncertain)), wording.Duration(a.seconds(waited)))
}
