package predict_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// rooted: 8 ranks are in Init from 1 to 2, then in a collective with root 0, which they enter and
// leave at these times, and enter Finalize 1 later; the last one is there 1 later, when all leave.
func rooted(t *testing.T, name string, times [8][2]float64) timeline.Trace {
	b := tracetest.New(8)
	last := 0.0
	for _, at := range times {
		last = max(last, at[1]+2)
	}
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(1, 2).Rooted(name, times[i][0], times[i][1], 0).Finalize(times[i][1]+1, last)
	})
	return timeline.Of(b.Open(t))
}

// punctual is the length of the run, in units, if ranks that compute for so long before the
// collective do so for 1.
func punctual(t *testing.T, tr timeline.Trace, late map[int]float64) float64 {
	t.Helper()
	lengths := play(t, tr, predict.Scenario{}, predict.Scenario{Compute: func(location int, r predict.Region) float64 {
		if late[location] > 0 && tr.Function(r.After).Name == "MPI_Init" {
			return 1 / late[location]
		}
		return 1
	}})
	assert.Equal(t, measured(t, tr), lengths[0])
	return float64(lengths[1]) / tracetest.Unit
}

// Rank 4 is late: it enters at 20, the others at 3. In a tree in which a rank's parent is it
// without its lowest bit, 5, 6 and 7 get the data by way of 4, 1 later; 1, 2 and 3 have it at 4.
// Without the 17 that it is late, all have it at 4, enter Finalize at 5 and end at 6: 5 from 1 on,
// in the place of 22.
func TestLateInnerRankOfABroadcast(t *testing.T) {
	tr := rooted(t, "MPI_Bcast", [8][2]float64{{3, 4}, {3, 4}, {3, 4}, {3, 4}, {20, 21}, {3, 21}, {3, 21}, {3, 21}})
	assert.InDelta(t, 5, punctual(t, tr, map[int]float64{4: 18}), 1e-9)
}

// Of the other tree, where it is without its highest bit: 5 and 7 (by way of 5 − 4 = 1, and
// of 7 − 4 = 3, which is below
// 1) have to wait for rank 1, and so has 3.
func TestLateInnerRankOfTheOtherTree(t *testing.T) {
	tr := rooted(t, "MPI_Bcast", [8][2]float64{{3, 4}, {20, 21}, {3, 4}, {3, 21}, {3, 4}, {3, 21}, {3, 4}, {3, 21}})
	assert.InDelta(t, 5, punctual(t, tr, map[int]float64{1: 18}), 1e-9)
}

// A reduction to rank 0: rank 5 is late, rank 4 waits for it, and the root for both: nobody
// does without it.
func TestLateLeafOfAReduction(t *testing.T) {
	tr := rooted(t, "MPI_Reduce", [8][2]float64{{3, 21}, {3, 4}, {3, 4}, {3, 4}, {3, 21}, {20, 21}, {3, 4}, {3, 4}})
	assert.InDelta(t, 5, punctual(t, tr, map[int]float64{5: 18}), 1e-9)
}

// Rank 2 leaves as late as 5, 6 and 7, but rank 4 is above it in no tree, nor next to it in one
// that explains the others: that took its time itself.
func TestLateElsewhereIsNotWaitedFor(t *testing.T) {
	tr := rooted(t, "MPI_Bcast", [8][2]float64{{3, 4}, {3, 4}, {3, 21}, {3, 4}, {20, 21}, {3, 21}, {3, 21}, {3, 21}})
	assert.InDelta(t, 22, punctual(t, tr, map[int]float64{4: 18}), 1e-9)
}

// Rank 5 left before rank 4 came, and rank 7 before rank 6: the trees in which 7 is below 4
// are not those of this broadcast, and in the others it is below 3, 2 or 1, who were not late.
// So it is not rank 4 that it waited for, and it takes its 18 all the same: from 3 to 21,
// Finalize from 22 to 23.
func TestWhoLeftBeforeDidNotWait(t *testing.T) {
	tr := rooted(t, "MPI_Bcast", [8][2]float64{{3, 4}, {3, 4}, {3, 4}, {3, 4}, {20, 21}, {3, 4}, {30, 31}, {3, 21}})
	assert.InDelta(t, 22, punctual(t, tr, map[int]float64{4: 18, 6: 28}), 1e-9)
}
