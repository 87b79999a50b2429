package causes_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// Sums are enough to name the slow rank, but not for what it costs.
func TestSumsNameTheSlowRank(t *testing.T) {
	for _, pattern := range simulate.Names() {
		c := simulate.Config{Pattern: pattern, Ranks: 16, Iterations: 40, RanksPerNode: 4, Imbalance: simulate.Imbalance{SlowRank: 6, SlowPercent: 100, Noise: 5}}
		full := simulated(t, c).Verdict
		c.Timing = "aggregated"
		sums := simulated(t, c).Verdict
		if full.Rank != nil {
			require.NotNil(t, sums.Rank, "%s\n%s", full.Text, sums.Text)
			assert.Equal(t, *full.Rank, *sums.Rank)
			assert.Nil(t, sums.GainSeconds)
			assert.Contains(t, sums.Text, "is not known")
		}
	}
}

// With sums no rank is blamed in runs that are balanced except for noise.
func TestSumsAccuseNobodyOfNoise(t *testing.T) {
	accused, runs := 0, 60
	if testing.Short() {
		runs = 20
	}
	for seed := range uint64(runs) {
		f := simulated(t, simulate.Config{Pattern: "stencil2d", Ranks: 9, Iterations: 30, Timing: "aggregated", Seed: seed, Imbalance: simulate.Imbalance{Noise: 20}})
		if f.Verdict.Rank != nil {
			accused++
		}
	}
	assert.LessOrEqual(t, accused, runs/20)
}

// One preemption is not work: rank 2 computes ten times as long in one iteration of thirty, which
// increases its sum by 30%, and no rank is blamed.
func TestSumsAccuseNobodyOfAPreemption(t *testing.T) {
	b := tracetest.Stencil{Ranks: 6, Iterations: 30, Work: func(rank, k int) float64 {
		if rank == 2 && k == 9 {
			return 20
		}
		return 2
	}}.Build()
	f := find(t, tracetest.Aggregated(t, b.Content()))
	assert.Nil(t, f.Verdict.Rank, f.Verdict.Text)
}

// The same with sums: the gain of equal work is not known.
func TestImbalanceOfSums(t *testing.T) {
	v := find(t, tracetest.Aggregated(t, grows().Content())).Verdict
	require.Equal(t, verdict.Imbalance, v.Blames, v.Text)
	assert.Nil(t, v.GainSeconds)
	assert.Equal(t, "Unequal work makes this job slow: ranks 0-7 compute between 80 ms and 150 ms each, rank 7 the longest; it grows with the rank; they differ most before MPI_Barrier at g.c:3. How much shorter the run would be without that is not known, since the times of single calls were not kept. The run is short, 172 ms between the start and the end of MPI: a longer one shows this more surely.", v.Text)
}
