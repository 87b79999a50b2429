package criticalpath_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waitfindings "github.com/cairn-mpi/cairn/analyzer/analyses/waits"
	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// What is found at 5% and at 1% differs from what is found without rounding by what the error of the times explains. With
// M, by how much a moment may be off at most, and p, the error of an interval:
//
//   - the run lies between two moments: 2M;
//   - a rank's useful time is a sum of n gaps, each between two moments and off by p at most: p of it, or 2M·n, so that
//     load balance and communication efficiency, quotients of two of these, are off by twice that share;
//   - a wait lies between two moments: 2M each;
//   - a part of the critical path lies between two moments: 2M for each part of either path. This takes a path without
//     alternatives that are as long but for 2M, so one rank is slower here by more than the rest varies; where steps of the
//     program are not much longer than M nothing is certain but who that rank is, and the path's length;
//   - root causes divide waits among delays since two ranks were last in step: 2M for each wait, and 4M for the delay, by
//     how much longer one rank took than the other between two moments each. This takes partners that do not change with
//     what is less than 2M, as those of a master do who serves whoever comes first, and those of whoever receives from
//     anybody.
func TestFindingsDifferByNoMoreThanRoundingExplains(t *testing.T) {
	for _, pattern := range simulate.Names() {
		for _, compute := range []time.Duration{50 * time.Microsecond, 2 * time.Millisecond, 40 * time.Millisecond} {
			t.Run(fmt.Sprintf("%s/%s", pattern, compute), func(t *testing.T) {
				t.Parallel()
				content := tracetest.Simulated(t, simulate.Config{Pattern: pattern, Ranks: 16, Iterations: 20, Compute: compute,
					Imbalance: simulate.Imbalance{SlowRank: 5, SlowPercent: 80, Noise: 6}})
				exact := analyzeContent(t, content)
				for percent, timing := range map[float64]string{1: "lossy 1", 5: "lossy 5"} {
					got := analyzeContent(t, tracetest.Rounded(t, content, timing))
					assertExplained(t, timing, percent/100, &exact, got, compute >= time.Millisecond, pattern != "master-worker" && pattern != "random")
				}
			})
		}
	}
}

// assertExplained compares what was found without rounding with what was found with an error p of intervals. steps: those
// of the program are long enough for a path without alternatives; partners: they do not depend on time.
func assertExplained(t *testing.T, timing string, p float64, exact *criticalpath.Findings, got criticalpath.Findings, steps, partners bool) {
	t.Helper()
	two := 2*got.Timing.MomentSeconds + 1e-9
	assert.InDelta(t, exact.RunSeconds, got.RunSeconds, two, "%s: run", timing)
	assert.Zero(t, got.Clock.Violations, timing)

	share := 0.0
	for i, r := range exact.Ranks {
		off := min(p*r.Computation, two*float64(r.Calls+1))
		assert.InDelta(t, r.Computation, got.Ranks[i].Computation, off+1e-9, "%s: rank %d computes", timing, r.Rank)
		if r.Computation > 0 && r.Computation > *exact.Efficiency.MeanUseful/2 { // a master hardly computes
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
		if w.PartOf != "" { // of messages in the wrong order only those that clearly are
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

	delays := func(f *criticalpath.Findings) map[int]float64 {
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

// atTheLimit reports whether one cause gains nine tenths of what another does, within 1% of the run: which of the two comes first
// is open then.
func atTheLimit(f *criticalpath.Findings, a, b verdict.Kind) bool {
	gains := map[verdict.Kind]float64{}
	for _, w := range f.WhatIf {
		gains[w.Kind] = max(gains[w.Kind], w.Gain)
	}
	return a != b && min(math.Abs(gains[a]-0.9*gains[b]), math.Abs(gains[b]-0.9*gains[a])) < 0.01
}
