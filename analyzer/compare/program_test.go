package compare_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/compare"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

func simulated(t *testing.T, config simulate.Config, change func(c *trace.Content)) timeline.Trace {
	t.Helper()
	content := tracetest.Simulated(t, config)
	if change != nil {
		change(content)
	}
	return timeline.Of(tracetest.Open(t, content))
}

// Runs of different programs: their functions main are in different files. Nothing but
// times is compared.
func TestDifferentProgramsAreNotCompared(t *testing.T) {
	for _, pattern := range []string{"all-to-all", "wavefront", "two-phase"} {
		a := simulated(t, simulate.Config{Pattern: "stencil2d", Ranks: 4, Iterations: 50}, nil)
		b := simulated(t, simulate.Config{Pattern: pattern, Ranks: 4, Iterations: 50}, nil)
		f := compared(t, a, b)
		assert.True(t, f.DifferentPrograms, pattern)
		assert.Contains(t, f.Text, "A and B are runs of different programs: ")
		assert.Contains(t, f.Text, "spend 0% and 0% of their time at call sites that both have")
		assert.Zero(t, f.Tests)
		assert.Empty(t, f.Changes)
		assert.Empty(t, f.Causes)
		assert.Empty(t, f.Activities)
		var text bytes.Buffer
		require.NoError(t, f.WriteText(&text))
		assert.Equal(t, f.Text, text.String()[:len(f.Text)], "it begins with that")
	}
}

// Runs of one side are runs of one program.
func TestASideIsOneProgram(t *testing.T) {
	a := simulated(t, simulate.Config{Pattern: "stencil2d", Ranks: 4, Iterations: 50}, nil)
	b := simulated(t, simulate.Config{Pattern: "ring", Ranks: 4, Iterations: 50}, nil)
	_, err := compare.Compare(context.Background(), recordings([]timeline.Trace{a, b}), recordings([]timeline.Trace{a, a}))
	assert.ErrorContains(t, err, "A1 (")
	assert.ErrorContains(t, err, ") and A2 (")
	assert.ErrorContains(t, err, "are runs of different programs")
}

// moved is a stencil whose lines are others from line 20 on, with a rank that computes 30 % longer.
func moved(t *testing.T, by int, slow float64) timeline.Trace {
	return simulated(t, simulate.Config{
		Pattern: "stencil2d", Ranks: 4, Iterations: 100, Compute: time.Millisecond,
		Imbalance: simulate.Imbalance{SlowRank: 2, SlowPercent: slow, Noise: 1}, Seed: uint64(by),
	}, func(c *trace.Content) {
		for i := range c.Sites {
			if c.Sites[i].Line > 20 {
				c.Sites[i].Line += by
			}
		}
	})
}

// A rebuilt program whose lines moved is the same program; its call sites are matched by function,
// its loops too, and what became slower is found.
func TestMovedLinesAreTheSameProgram(t *testing.T) {
	f := compared(t, moved(t, 0, 0), moved(t, 7, 30))
	assert.False(t, f.DifferentPrograms, f.Text)
	assert.True(t, f.CallSitesMoved)
	assert.InDelta(t, 100, f.A.Common, 1e-6)
	assert.Contains(t, f.Notes, "Call sites moved to other lines from A to B: they are matched by function, all of one function as one.")
	assert.Regexp(t, `Rank 2 computes (29|30)\.\d% longer in an iteration of loop stencil2d\.c:37–47: `, f.Text)
	causeSum(t, &f)
	for _, c := range f.Causes[1:] {
		assert.Less(t, c.Difference, 0.005, "%+v", c)
	}
	f = compared(t, moved(t, 0, 0), moved(t, 0, 30))
	assert.False(t, f.CallSitesMoved)
}

// What is not alike beside times is noted.
func TestNotesOfUnlikeRuns(t *testing.T) {
	a := tracetest.Stencil{Ranks: 4, PerNode: 2, Iterations: 20, Work: func(int, int) float64 { return 5 }}.Build()
	b := tracetest.Stencil{Ranks: 5, PerNode: 5, Iterations: 20, Work: func(int, int) float64 { return 5 }}.Build().Lossy(5)
	b.Meta().Version, b.Meta().Implementation = "4.0.2", "MPICH"
	b.Meta().Notes = []string{"A record was lost."}
	b.Ranks(func(_ int, r *tracetest.Rank) { r.Info().Executable = "/opt/test-2" })
	b.Rank(1).Info().EndedEarly = "killed in MPI_Waitall"
	b.Without(4)
	f := compared(t, timeline.Of(a.Open(t)), timeline.Of(b.Open(t)))
	assert.Equal(t, []string{
		"Different executables: test (A); test-2 (B).",
		"Different versions of MPI: Open MPI 4.1.4 (A); MPICH 4.0.2 (B).",
		"Different numbers of nodes: 2 (A); 1 (B).",
		"Different timing: lossless (A); lossy, within 5% (B).",
		"B: missing from the trace: rank 4.",
		"B: ended before MPI_Finalize: rank 1. It is a part of a run.",
		"B: A record was lost.",
	}, f.Notes)
	c := tracetest.Stencil{Ranks: 3, PerNode: 2, Iterations: 20, Work: func(int, int) float64 { return 5 }}.Build()
	f = compared(t, timeline.Of(a.Open(t)), timeline.Of(c.Open(t)))
	assert.Equal(t, []string{"Different numbers of ranks: 4 (A); 3 (B): ranks of the same number may not do the same."}, f.Notes)
}

// One run on one side and several on the other are no comparison.
func TestNumbersOfRuns(t *testing.T) {
	assert.NoError(t, compare.CheckRuns(1, 1))
	assert.NoError(t, compare.CheckRuns(2, 5))
	assert.ErrorContains(t, compare.CheckRuns(0, 1), "nothing to compare")
	assert.ErrorContains(t, compare.CheckRuns(1, 3), "give one a side, or at least two of each")
}
