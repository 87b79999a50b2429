package route_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// Four ranks gather to rank 0 along the binomial tree: rank 2 passes on the data of rank 3. All
// enter at 10 except rank 3, which enters at 60, 50 late. It leaves at 61, rank 2 has its data and
// leaves at 62, rank 0 at 63. Rank 2 is the last to enter the barrier, at 64, which all leave at
// 65. Expected:
//
//   - Ranks 0 and 2 waited in the gather from 10 to 60 for rank 3, and none waited there for rank
//     2. In the barrier ranks 0 and 1 waited for rank 2 from 63 to 64, and rank 3 from 61 to 64.
//   - The path is on rank 3 up to its entry at 60, and on rank 2 from then on to 64, when it enters
//     the barrier.
func TestPathAndRootCauseThroughATree(t *testing.T) {
	b := tracetest.New(4)
	b.Rank(0).Init(0, 5).Rooted("MPI_Gather", 10, 63, 0).Collective("MPI_Barrier", 63, 65).Finalize(70, 75)
	b.Rank(1).Init(0, 5).Rooted("MPI_Gather", 10, 11, 0).Collective("MPI_Barrier", 63, 65).Finalize(70, 75)
	b.Rank(2).Init(0, 5).Rooted("MPI_Gather", 10, 62, 0).Collective("MPI_Barrier", 64, 65).Finalize(70, 75)
	b.Rank(3).Init(0, 5).Rooted("MPI_Gather", 60, 61, 0).Collective("MPI_Barrier", 61, 65).Finalize(70, 75)
	f := analyzertest.Built(t, b)
	assert.Equal(t, map[string]float64{"early reduce": 100, "wait at barrier": 5}, f.Waited())
	assert.Equal(t, []piece{
		{3, 0, 5, "MPI_Init"}, {3, 5, 60, "computation"}, {2, 60, 62, "MPI_Gather"}, {2, 62, 64, "computation"},
		{0, 64, 65, "MPI_Barrier"}, {0, 65, 70, "computation"}, {0, 70, 75, "MPI_Finalize"},
	}, pieces(f))
	assert.InDelta(t, 0.100, *f.Ranks[3].CausedWaiting, 1e-9)
	assert.InDelta(t, 0.005, *f.Ranks[2].CausedWaiting, 1e-9)
	// Of the 105 waited, all of the gather's 100 is rank 3's computation; the barrier's 5 is shared
	// out.
	assert.GreaterOrEqual(t, *f.Ranks[3].DelayCost, 0.100-1e-9)
	assert.LessOrEqual(t, *f.Ranks[2].DelayCost, 0.005)
}
