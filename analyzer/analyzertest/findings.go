package analyzertest

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyses/cpus"
	"github.com/cairn-mpi/cairn/analyzer/analyses/detail"
	"github.com/cairn-mpi/cairn/analyzer/analyses/efficiency"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ledger"
	"github.com/cairn-mpi/cairn/analyzer/analyses/path"
	"github.com/cairn-mpi/cairn/analyzer/analyses/phases"
	"github.com/cairn-mpi/cairn/analyzer/analyses/profile"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/analyses/rootcauses"
	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/analyses/stopped"
	"github.com/cairn-mpi/cairn/analyzer/analyses/strips"
	"github.com/cairn-mpi/cairn/analyzer/analyses/verdict"
	"github.com/cairn-mpi/cairn/analyzer/analyses/waits"
	"github.com/cairn-mpi/cairn/analyzer/analyses/whatif"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// Findings are those of all analyses around the critical path, under their own keys.
type Findings struct {
	runFindings
	verdictFindings
	stoppedFindings
	pathFindings
	efficiencyFindings
	cpuFindings
	rankFindings
	waitFindings
	whatIfFindings
	stripFindings
	phaseFindings
	profileFindings
	ledgerFindings
	detailFindings
	RootCauses *rootcauses.RootCauses `json:"root_causes"`
	Notes      []string               `json:"notes"` // of the run and of the root causes
}

// Names under which the findings, whose types have the same name, can be embedded together.
type (
	runFindings        = run.Findings
	verdictFindings    = verdict.Findings
	stoppedFindings    = stopped.Findings
	pathFindings       = path.Findings
	efficiencyFindings = efficiency.Findings
	cpuFindings        = cpus.Findings
	rankFindings       = ranks.Findings
	waitFindings       = waits.Findings
	whatIfFindings     = whatif.Findings
	stripFindings      = strips.Findings
	phaseFindings      = phases.Findings
	profileFindings    = profile.Findings
	ledgerFindings     = ledger.Findings
	detailFindings     = detail.Findings
)

var all = pass.New("all", func(_ context.Context, r *pass.Run) (Findings, error) {
	run, delays := run.Analysis.Result(r), rootcauses.Analysis.Result(r)
	return Findings{
		run, verdict.Analysis.Result(r), stopped.Analysis.Result(r), path.Analysis.Result(r), efficiency.Analysis.Result(r),
		cpus.Analysis.Result(r), ranks.Analysis.Result(r), waits.Analysis.Result(r), whatif.Analysis.Result(r),
		strips.Analysis.Result(r), phases.Analysis.Result(r), profile.Analysis.Result(r), ledger.Analysis.Result(r),
		detail.Analysis.Result(r), delays.RootCauses, slices.Concat(run.Notes, delays.Notes),
	}, nil
}, run.Analysis, verdict.Analysis, stopped.Analysis, path.Analysis, efficiency.Analysis, cpus.Analysis, ranks.Analysis, waits.Analysis,
	rootcauses.Analysis, whatif.Analysis, strips.Analysis, phases.Analysis, profile.Analysis, ledger.Analysis, detail.Analysis)

// Analyze returns the findings on a trace. The functions in given may set results of passes.
func Analyze(t testing.TB, of timeline.Trace, given ...func(*pass.Run)) Findings {
	t.Helper()
	f, err := pass.Find(t.Context(), of, all, given...)
	require.NoError(t, err)
	return f
}

// Content returns the findings on a trace in memory, and asserts what holds for each with times of
// single calls: its path has no gaps and no overlaps, and is as long as the run, and so are the
// sums over its parts.
func Content(t testing.TB, c *trace.Content) Findings {
	t.Helper()
	f := Analyze(t, timeline.Of(tracetest.Open(t, c)))
	if f.Path == nil {
		return f
	}
	assert.InDelta(t, f.RunSeconds, f.Path.LengthSeconds, 1e-9, "the path is as long as the run")
	at := int64(0)
	for _, s := range f.Path.Segments {
		assert.Equal(t, at, s.StartNS, "segments follow each other")
		assert.Greater(t, s.EndNS, s.StartNS)
		at = s.EndNS
	}
	assert.Equal(t, int64(math.Round(f.RunSeconds*1e9)), at)
	functions, ranks, phases := 0.0, 0.0, 0.0
	for _, r := range f.Path.ByFunction {
		functions += r.Seconds
	}
	for _, r := range f.Ranks {
		ranks += *r.Path
	}
	for _, r := range f.Path.ByPhase {
		phases += r.Seconds
	}
	assert.InDelta(t, f.RunSeconds, functions, 1e-9, "functions")
	assert.InDelta(t, f.RunSeconds, ranks, 1e-9, "ranks")
	assert.InDelta(t, f.RunSeconds, phases, 1e-9, "phases")
	return f
}

// Built returns the findings on a trace that was built by hand, with the assertions of Content.
func Built(t testing.TB, b *tracetest.Builder) Findings {
	t.Helper()
	return Content(t, b.Content())
}

// LateAtBarrier is a trace for tests of several analyses: rank 1 computes 40 before a barrier, rank
// 0 computes 10; both 9 after it.
//
//	rank 0: Init 0-10, Barrier 20-51 (waits until 50), Finalize 60-61
//	rank 1: Init 0-10, Barrier 50-51,                  Finalize 60-61
func LateAtBarrier() *tracetest.Builder {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("w.c:1").Init(0, 10).At("w.c:2").Collective("MPI_Barrier", float64(20+30*i), 51).At("w.c:3").Finalize(60, 61)
	})
	return b
}

// Waited returns the time waited by kind of wait state, in units of tracetest.
func (f *Findings) Waited() map[string]float64 {
	m := map[string]float64{}
	for _, w := range f.WaitStates {
		m[w.Kind] = math.Round(w.Seconds*1e9) / tracetest.Unit
	}
	return m
}
