package verdict

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/analyses/ledger"
	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/analyses/stopped"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/blame"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Name is the name of the analysis.
const Name = "verdict"

// Findings are the verdict.
type Findings struct {
	Verdict verdict.Verdict `json:"verdict"`
}

// Analysis explains the duration of the run.
var Analysis = analysis.New("verdict", analysis.About{Title: "verdict", Version: 1}, find, blame.Pass, ledger.Costs, stopped.Analysis, run.Analysis)

func find(_ context.Context, r *pass.Run) (f Findings, err error) {
	f.Verdict = blame.Pass.Result(r)
	f.Verdict.Causes = slices.Clone(f.Verdict.Causes)
	for i, seconds := range ledger.Costs.Result(r).Lost {
		f.Verdict.Causes[i].LostSeconds = seconds
	}
	w := run.Analysis.Result(r).Window
	addEnding(&f.Verdict, stopped.Analysis.Result(r).Stopped, w == nil, r.Trace())
	if w != nil {
		f.Verdict.Text = fmt.Sprintf("Between %.6g s and %.6g s of the run: %s", w.From, w.To, f.Verdict.Text)
	}
	return f, nil
}

// addEnding adds to the verdict how an incomplete run ended, and which parts of it the trace lacks.
// What explains the run replaces the verdict. whole reports that all of the run was analyzed.
func addEnding(v *verdict.Verdict, s *stopped.Ending, whole bool, t timeline.Trace) {
	switch {
	case s == nil && whole:
		all := "All ranks"
		if len(t.Meta().MissingRanks) > 0 {
			all += " of the trace"
		}
		if text := verdict.AfterFinalize(t.Meta().Launcher, all); text != "" {
			v.Text += " " + text
		}
	case s == nil:
	case s.Kind == verdict.Hang, s.Kind == verdict.Crash:
		*v = verdict.Of([]verdict.Cause{s.Cause()}, verdict.Facts{})
		v.Text = s.Text
	case s.Explains():
		*v = verdict.Of(nil, verdict.Facts{})
		c := s.Cause()
		v.Text, v.Rank, v.Ranks = s.Text, c.Rank, c.Ranks
	default:
		v.Text = s.Text + " " + v.Text
	}
	m := t.Meta()
	if text := verdict.Recorded(m.WorldSize, m.MissingRanks, t.Threads().Calls(), t.Ranks().Losses(), t.Coarse()); text != "" {
		v.Text = text + " " + v.Text
	}
}
