package run

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

func timingError(m *trace.Meta, moments int64) TimingError {
	return TimingError{Mode: string(m.Timing.Mode), ErrorPercent: m.Timing.WorstError(), MomentSeconds: float64(moments) / 1e9}
}

// uncertainShare is the minimum share of all waiting explained by rounding that is reported.
const uncertainShare = 0.1

// roundingNote describes the effect of rounded times on the findings; "" if the findings exceed the
// rounding errors.
func roundingNote(a *accounts.Accounts, f *matching.Result) string {
	if f == nil || a.Meta.Timing.Mode != timing.Lossy {
		return ""
	}
	waited, uncertain := int64(0), int64(0)
	for i := range f.Kinds {
		waited += f.Kinds[i].Ns
		uncertain += f.Kinds[i].Uncertain
	}
	if float64(uncertain) <= uncertainShare*float64(waited) {
		return ""
	}
	return fmt.Sprintf("Times are rounded (%s), the time of a call by up to %s: that may explain %s of the %s that ranks waited. --timing lossless keeps every time stamp.",
		a.Meta.Timing.String(), wording.Duration(accounts.Seconds(f.MaxTimeError)), wording.Duration(accounts.Seconds(uncertain)), wording.Duration(accounts.Seconds(waited)))
}
