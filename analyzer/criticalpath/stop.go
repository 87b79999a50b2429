package criticalpath

import (
	"context"
	"fmt"
	"slices"

	verdictfindings "github.com/cairn-mpi/cairn/analyzer/analyses/verdict"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/stopped"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// verdictAnalysis says why the run took as long as it did.
var verdictAnalysis = analysis.New("verdict", analysis.About{Title: "verdict", Version: 1}, findVerdict, blamePass, chargedPass, stoppedAnalysis, runAnalysis)

func findVerdict(ctx context.Context, r *pass.Run) (f verdictfindings.Findings, err error) {
	if f.Verdict, err = blamePass.Of(ctx, r); err != nil {
		return f, err
	}
	costs, err := chargedPass.Of(ctx, r)
	if err != nil {
		return f, err
	}
	f.Verdict.Causes = slices.Clone(f.Verdict.Causes)
	for i, seconds := range costs.lost {
		f.Verdict.Causes[i].LostSeconds = seconds
	}
	ended, err := stoppedAnalysis.Of(ctx, r)
	if err != nil {
		return f, err
	}
	tellStop(&f.Verdict, ended.Stopped, r.Trace())
	whole, err := runAnalysis.Of(ctx, r)
	if w := whole.Window; w != nil {
		f.Verdict.Text = fmt.Sprintf("Between %.6g s and %.6g s of the run: %s", w.From, w.To, f.Verdict.Text)
	}
	return f, err
}

// tellStop puts what stands above all else into the verdict: how a run ended that did not come to its end, and what of it
// the trace lacks.
func tellStop(v *verdict.Verdict, s *stopped.Findings, t timeline.Trace) {
	switch {
	case s == nil:
	case s.Kind == verdict.Hang, s.Kind == verdict.Crash:
		*v = verdict.Of([]verdict.Cause{s.Cause()}, verdict.Facts{})
		v.Text = s.Text
	default:
		v.Text = s.Text + " " + v.Text
	}
	m := t.Meta()
	if text := verdict.Recorded(m.WorldSize, m.MissingRanks, t.Threads().Calls(), t.Ranks().Losses(), t.Coarse()); text != "" {
		v.Text = text + " " + v.Text
	}
}
