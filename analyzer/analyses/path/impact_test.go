package path_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// impacts returns the rows by subject, in units, and asserts that the sums add up to the total of
// all ranks.
func impacts(t *testing.T, f analyzertest.Findings) map[string][]float64 {
	t.Helper()
	unit := func(seconds float64) float64 { return seconds * 1e9 / tracetest.Unit }
	rows := map[string][]float64{}
	i := f.Path.Impact
	for _, r := range i.Activities {
		rows[r.Function+" "+r.CallSite] = []float64{unit(r.Path), unit(r.Imbalance), unit(r.Activity), unit(r.Within), unit(r.Between), unit(r.OffPath)}
	}
	assert.InDelta(t, i.Allocation, i.Activity+i.Within+i.Between+i.OffPath, 1e-9)
	return rows
}

func assertImpacts(t *testing.T, want, got map[string][]float64) {
	t.Helper()
	assert.Len(t, got, len(want))
	for what, row := range want {
		assert.InDeltaSlice(t, row, got[what], 1e-6, what)
	}
}

// Both ranks do the same (lateAtBarrier). The path is 61 long, all of it on rank 1, which is never
// idle. Rank 0 does 10 of the 40 before the barrier, and the same as the path elsewhere, and is
// idle for 61 − 31 = 30: within the group of ranks that compute before the barrier. The indicator
// is 40 − (10 + 40) / 2 = 15.
func TestImpactWithinRanksThatDoTheSame(t *testing.T) {
	f := analyzertest.Built(t, analyzertest.LateAtBarrier())
	assertImpacts(t, map[string][]float64{
		// path, indicator, activity, within, between, off the path
		"MPI_Init w.c:1": {10, 0, 20, 0, 0, 0},
		"computation between MPI_Init at w.c:1 and MPI_Barrier at w.c:2": {40, 15, 50, 30, 0, 0},
		"MPI_Barrier w.c:2": {1, 0, 2, 0, 0, 0},
		"computation between MPI_Barrier at w.c:2 and MPI_Finalize at w.c:3": {9, 0, 18, 0, 0, 0},
		"MPI_Finalize w.c:3": {1, 0, 2, 0, 0, 0},
	}, impacts(t, f))
	assert.InDelta(t, 0.122, f.Path.Impact.Allocation, 1e-9)
	assert.Equal(t, "computation", f.Path.Impact.Activities[0].Function, "costliest first")
}

// A producer and a consumer: each is idle while the other one executes activities that it never
// does itself.
//
//	rank 0: Init 0-10, Send 50-51,                    Finalize 61-93 (waits until 92)
//	rank 1: Init 0-10, Recv 20-52 (waits until 50),   Finalize 92-93
//
// The path is Init 10 and 40 of computation on rank 0, then the Recv's own 2, 40 of computation and
// Finalize 1 on rank 1: 93. Rank 0 is busy for 10 + 40 + 1 + 10 + 1 = 62 and idle for 31; the path
// has 40 of computation and the 2 of the Recv that it does not have: 31·40/42 and 31·2/42. Rank 1
// is busy for 10 + 10 + 2 + 40 + 1 = 63 and idle for 30, all due to rank 0's 40. Not on the path
// are the Send, 1, rank 0's 10 after it, and rank 1's 10 before the Recv.
func TestImpactBetweenRanksThatDoDifferentThings(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).At("p.c:1").Init(0, 10).At("p.c:2").Send(50, 51, 1).At("p.c:9").Finalize(61, 93)
	b.Rank(1).At("p.c:1").Init(0, 10).At("p.c:5").Recv(20, 52, 0, 8).At("p.c:9").Finalize(92, 93)
	f := analyzertest.Built(t, b)
	assertImpacts(t, map[string][]float64{
		"MPI_Init p.c:1": {10, 0, 20, 0, 0, 0},
		"computation between MPI_Init at p.c:1 and MPI_Send at p.c:2": {40, 20, 40, 0, 30, 0},
		"MPI_Recv p.c:5": {2, 1, 2, 0, 31.0 * 2 / 42, 0},
		"computation between MPI_Recv at p.c:5 and MPI_Finalize at p.c:9": {40, 20, 40, 0, 31.0 * 40 / 42, 0},
		"MPI_Finalize p.c:9": {1, 0, 2, 0, 0, 0},
	}, impacts(t, f))
	assert.InDelta(t, 0.186, f.Path.Impact.Allocation, 1e-9)
	assert.InDelta(t, 0.021, f.Path.Impact.OffPath, 1e-9)
}

// The path goes from rank 1, slow before the first barrier, to rank 0, the only one that computes
// before the second.
//
//	rank 0: Init 0-10, Barrier 25-51 (waits until 50), Barrier 66-67, Finalize 67-68
//	rank 1: Init 0-10, Barrier 50-51, Barrier 51-67 (waits until 66), Finalize 67-68
//
// The path: Init 10, 40 on rank 1 before the first barrier, 1 in it, 15 on rank 0 before the
// second, 1 in it, Finalize 1. Rank 0 is busy for 10 + 15 + 1 + 15 + 1 + 1 = 43 and idle for 25:
// within, before the first barrier. Rank 1 is busy for 10 + 40 + 1 + 1 + 1 = 53 and idle for 15; it
// never computes between barriers.
func TestImpactWherePathChangesRanks(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).At("c.c:1").Init(0, 10).At("c.c:2").Collective("MPI_Barrier", 25, 51).Collective("MPI_Barrier", 66, 67).At("c.c:9").Finalize(67, 68)
	b.Rank(1).At("c.c:1").Init(0, 10).At("c.c:2").Collective("MPI_Barrier", 50, 51).Collective("MPI_Barrier", 51, 67).At("c.c:9").Finalize(67, 68)
	assertImpacts(t, map[string][]float64{
		"MPI_Init c.c:1": {10, 0, 20, 0, 0, 0},
		"computation between MPI_Init at c.c:1 and MPI_Barrier at c.c:2": {40, 12.5, 55, 25, 0, 0},
		"computation between two calls of MPI_Barrier at c.c:2":          {15, 7.5, 15, 0, 15, 0},
		"MPI_Barrier c.c:2":  {2, 0, 4, 0, 0, 0},
		"MPI_Finalize c.c:9": {1, 0, 2, 0, 0, 0},
	}, impacts(t, analyzertest.Built(t, b)))
}
