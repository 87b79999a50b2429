package criticalpath

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
)

// runAnalysis is about the run as a whole.
var runAnalysis = analysis.New("run", analysis.About{Title: "how long the run took, clocks, what the trace lacks", Version: 1}, findRun, accountsPass, matchingPass, clockPass)

// aggregatedNote is what sums cannot tell.
const aggregatedNote = "The times of single calls were not kept (timing aggregated): times are sums. Load balance and parallel efficiency follow from them; the critical path, wait states and their causes, slack, serialization, transfer, phases and predictions are not known. Time between polls counts as computation. Trace with timing lossy or lossless to learn more."

func findRun(ctx context.Context, r *pass.Run) (run.Findings, error) {
	a, err := accountsPass.Of(ctx, r)
	if err != nil {
		return run.Findings{}, err
	}
	matched, err := matchingPass.Of(ctx, r)
	if err != nil {
		return run.Findings{}, err
	}
	m, err := clockPass.Of(ctx, r)
	if err != nil {
		return run.Findings{}, err
	}
	f := run.Findings{RunSeconds: inSeconds(a.run()), RunStartNS: a.start, Clock: m.Findings, Notes: notesOf(a, matched)}
	if a.sums {
		f.Timing = timingError(a.meta, 0)
		f.Notes = append([]string{aggregatedNote}, f.Notes...)
		return f, nil
	}
	f.Clock.Violations, f.Clock.WithinRounding = matched.violations.Count, matched.violations.Rounded
	f.Clock.WorstSeconds = inSeconds(matched.violations.Worst)
	f.Timing = timingError(a.meta, matched.moments)
	if w := a.window; w != nil {
		f.Window = &run.Window{From: inSeconds(w.From - w.Start), To: inSeconds(w.To - w.Start)}
	}
	return f, nil
}
