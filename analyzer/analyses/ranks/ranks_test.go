package ranks_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
)

// The indicator is the computation on the path beyond the mean of the ranks: 40 − (10 + 40) / 2 =
// 15 before the barrier, 9 − 9 = 0 after it.
func TestImbalanceIndicator(t *testing.T) {
	f := analyzertest.Built(t, analyzertest.LateAtBarrier())
	require.Len(t, f.Computation, 2)
	before, after := f.Computation[0], f.Computation[1]
	assert.Equal(t, "MPI_Barrier", before.Before.Function)
	assert.InDelta(t, 0.040, *before.Path, 1e-9)
	assert.InDelta(t, 0.025, before.MeanSeconds, 1e-9)
	assert.InDelta(t, 0.015, *before.Imbalance, 1e-9)
	assert.Equal(t, 1, before.MaxRank)
	assert.Equal(t, "MPI_Finalize", after.Before.Function)
	assert.InDelta(t, 0, *after.Imbalance, 1e-9)
}
