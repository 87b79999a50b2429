package strips_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyses/strips"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// 4,100 ranks are more than twice the number of strips, so three ranks share one. Ranks 0 to 2
// begin at 0, 50 and 0 and compute until Finalize, from 100 to 110, except rank 2, which is in a
// barrier of its own from 0 to 100. In the first part of the run rank 1 does not exist and the mean
// of the others is half in MPI; in the middle it is a third.
func TestManyRanksShareStrips(t *testing.T) {
	b := tracetest.New(4100)
	b.Ranks(func(i int, r *tracetest.Rank) {
		switch i {
		case 1:
			r.Init(50, 50)
		case 2:
			r.Init(0, 0).Call("MPI_Barrier", 0, 100, tracetest.Args{"comm": "MPI_COMM_SELF"})
		default:
			r.Init(0, 0)
		}
		r.Finalize(100, 110)
	})
	f, err := pass.Find(t.Context(), timeline.Of(b.Open(t)), strips.Analysis.Pass)
	require.NoError(t, err)
	s := f.Strips
	assert.Equal(t, 3, s.Tile)
	require.Len(t, s.MPI, 1367)
	require.Len(t, s.Wait, 1367)
	assert.InDelta(t, 127, s.MPI[0][1], 1)
	assert.InDelta(t, 85, s.MPI[0][s.Bins*7/10], 1)
	assert.Zero(t, s.MPI[1][s.Bins*7/10])
	assert.EqualValues(t, 255, s.MPI[1366][s.Bins-1], "two ranks, both in MPI_Finalize")
}
