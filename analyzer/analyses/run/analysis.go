package run

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
)

// Analysis describes the run as a whole.
var Analysis = analysis.New("run", analysis.About{Title: "how long the run took, clocks, what the trace lacks", Version: 1}, find, accounts.Pass, matching.Pass, matching.Clock)

// aggregatedNote lists what is unknown if only sums of times were recorded.
const aggregatedNote = "The times of single calls were not kept (timing aggregated): times are sums. Load balance and parallel efficiency follow from them; the critical path, wait states and their causes, slack, serialization, transfer, phases and predictions are not known. Time between polls counts as computation. Trace with timing lossy or lossless to learn more."

func find(_ context.Context, r *pass.Run) (Findings, error) {
	a := accounts.Pass.Result(r)
	matched := matching.Pass.Result(r)
	f := Findings{RunSeconds: accounts.Seconds(a.Run()), RunStartNS: a.Start, Clock: matching.Clock.Result(r).Findings, Notes: notesOf(a, matched)}
	if a.Sums {
		f.Timing = timingError(a.Meta, 0)
		f.Notes = append([]string{aggregatedNote}, f.Notes...)
		return f, nil
	}
	f.Clock.Violations, f.Clock.WithinRounding = matched.Violations.Count, matched.Violations.Rounded
	f.Clock.WorstSeconds = accounts.Seconds(matched.Violations.Worst)
	f.Timing = timingError(a.Meta, matched.MaxTimeError)
	if w := a.Window; w != nil {
		f.Window = &Window{From: accounts.Seconds(w.From - w.Start), To: accounts.Seconds(w.To - w.Start)}
	}
	return f, nil
}
