package analyzer_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waitfindings "github.com/cairn-mpi/cairn/analyzer/analyses/waits"
	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// Findings at 5% and at 1% differ from those without rounding only by the error of the times. With
// M, the maximum error of a time, and p, the relative error of an interval:
//
//   - The run is between two times: 2M.
//   - A rank's useful time is a sum of n gaps, each between two times with an error of at most p: p
//     of it, or 2M·n. Load balance and communication efficiency, quotients of two of these, have
//     twice that relative error.
//   - A wait is between two times: 2M each.
//   - A part of the critical path is between two times: 2M for each part of either path. This
//     requires a path without alternatives of the same length within 2M, so one rank is slower here
//     by more than the variation of the rest. If the steps of the program are not much longer than
//     M, only that rank and the length of the path are certain.
//   - Root causes divide waits among delays since two ranks were last in step: 2M for each wait,
//     and 4M for the delay, by which one rank took longer than the other between two times each.
//     This requires partners that do not change within 2M, unlike those of a master that serves the
//     first worker, and those of a receiver from any source.
func TestFindingsDifferByNoMoreThanRoundingExplains(t *testing.T) {
	for _, pattern := range simulate.Names() {
		for _, compute := range []time.Duration{2 * time.Millisecond, 50 * time.Microsecond, 40 * time.Millisecond} {
			if testing.Short() && compute != 2*time.Millisecond {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", pattern, compute), func(t *testing.T) {
				t.Parallel()
				content := tracetest.Simulated(t, simulate.Config{Pattern: pattern, Ranks: 16, Iterations: 20, Compute: compute,
					Imbalance: simulate.Imbalance{SlowRank: 5, SlowPercent: 80, Noise: 6}})
				exact := analyzertest.Content(t, content)
				for percent, timing := range map[float64]string{1: "lossy 1", 5: "lossy 5"} {
					if testing.Short() && percent == 1 {
						continue
					}
					got := analyzertest.Content(t, tracetest.Rounded(t, content, timing))
					assertExplained(t, timing, percent/100, &exact, got, compute >= time.Millisecond, pattern != "master-worker" && pattern != "random")
				}
			})
		}
	}
}

// assertExplained compares exact findings with those under a relative error p of intervals. steps:
// the steps of the program are long enough for a path without alternatives; partners: they do not
// depend on time.
func assertExplained(t *testing.T, timing string, p float64, exact *analyzertest.Findings, got analyzertest.Findings, steps, partners bool) {
	t.Helper()
	two := 2*got.Timing.MomentSeconds + 1e-9
	assert.InDelta(t, exact.RunSeconds, got.RunSeconds, two, "%s: run", timing)
	assert.Zero(t, got.Clock.Violations, timing)

	share := 0.0
	for i, r := range exact.Ranks {
		off := min(p*r.Computation, two*float64(r.Calls+1))
		assert.InDelta(t, r.Computation, got.Ranks[i].Computation, off+1e-9, "%s: rank %d computes", timing, r.Rank)
		// a master hardly computes
		if r.Computation > 0 && r.Computation > *exact.Efficiency.MeanUseful/2 {
			share = max(share, off/r.Computation)
		}
	}
	assert.InDelta(t, *exact.Efficiency.LoadBalance, *got.Efficiency.LoadBalance, 2*share, "%s: load balance", timing)
	assert.InDelta(t, *exact.Efficiency.Communication, *got.Efficiency.Communication, 2*share+two/exact.RunSeconds, "%s: communication", timing)

	kinds := map[string]waitfindings.WaitTime{}
	count, all := 0, 0.0
	for _, w := range exact.WaitStates {
		kinds[w.Kind] = w
	}
	for _, w := range got.WaitStates {
		e := kinds[w.Kind]
		delete(kinds, w.Kind)
		if w.PartOf != "" { // only messages that are clearly in the wrong order count
			assert.LessOrEqual(t, w.Seconds, e.Seconds+two*float64(w.Count), "%s: %s", timing, w.Kind)
			continue
		}
		n := max(e.Count, w.Count)
		assert.InDelta(t, e.Seconds, w.Seconds, two*float64(n), "%s: %s", timing, w.Kind)
		count += n
		all += e.Seconds
	}
	for _, e := range kinds {
		if e.PartOf != "" {
			continue
		}
		assert.LessOrEqual(t, e.Seconds, two*float64(e.Count), "%s: no %s", timing, e.Kind)
		count += e.Count
	}

	parts := float64(exact.Path.Stretches + got.Path.Stretches)
	for i, r := range exact.Ranks {
		if steps {
			assert.InDelta(t, *r.PathShare, *got.Ranks[i].PathShare, two*parts/exact.RunSeconds, "%s: rank %d on the path", timing, r.Rank)
		}
	}

	if !atTheLimit(exact, exact.Verdict.Blames, got.Verdict.Blames) {
		require.Equal(t, exact.Verdict.Blames, got.Verdict.Blames, "%s: %s, was: %s", timing, got.Verdict.Text, exact.Verdict.Text)
		assert.Equal(t, exact.Verdict.Rank, got.Verdict.Rank, timing)
		assert.Equal(t, exact.Verdict.Ranks, got.Verdict.Ranks, timing)
	}

	delays := func(f *analyzertest.Findings) map[int]float64 {
		byRank := map[int]float64{}
		for _, d := range f.RootCauses.Delays {
			byRank[d.Rank] += d.ShortTerm + d.LongTerm
		}
		return byRank
	}
	was, is := delays(exact), delays(&got)
	if !partners {
		return
	}
	assert.Equal(t, exact.RootCauses.Delays[0].Rank, got.RootCauses.Delays[0].Rank, "%s: first root cause", timing)
	for rank := range exact.Ranks {
		assert.LessOrEqual(t, math.Abs(was[rank]-is[rank]), 3*two*float64(count), "%s: waiting put down to rank %d: %g s, was %g s of %g s", timing, rank, is[rank], was[rank], all)
	}
}

// atTheLimit reports whether one cause gains nine tenths of another, within 1% of the run: then the
// order of the two is undetermined.
func atTheLimit(f *analyzertest.Findings, a, b verdict.Kind) bool {
	gains := map[verdict.Kind]float64{}
	for _, w := range f.WhatIf {
		gains[w.Kind] = max(gains[w.Kind], w.Gain)
	}
	return a != b && min(math.Abs(gains[a]-0.9*gains[b]), math.Abs(gains[b]-0.9*gains[a])) < 0.01
}
