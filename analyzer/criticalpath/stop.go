package criticalpath

import (
	"github.com/cairn-mpi/cairn/analyzer/stopped"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// tellStop puts what stands above all else into the verdict: how a run ended that did not come to its end, and what of it
// the trace lacks.
func (f *Findings) tellStop(s *stopped.Findings, t timeline.Trace) {
	f.Stopped = s
	switch {
	case s == nil:
	case s.Kind == verdict.Hang, s.Kind == verdict.Crash:
		f.Verdict = verdict.Of([]verdict.Cause{s.Cause()}, verdict.Facts{})
		f.Verdict.Text = s.Text
	default:
		f.Verdict.Text = s.Text + " " + f.Verdict.Text
	}
	m := t.Meta()
	if text := verdict.Recorded(m.WorldSize, m.MissingRanks, t.Threads().Calls(), t.Ranks().Losses(), t.Coarse()); text != "" {
		f.Verdict.Text = text + " " + f.Verdict.Text
	}
}
