package efficiency_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyses/efficiency"
	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// Useful are 10 + 9 of rank 0 and 40 + 9 of rank 1, mean 34; the run takes 61, 49 on an ideal
// network. Load balance is 34/49, communication 49/61: serialization 49/49, because ranks wait only
// for rank 1's computation, and transfer 49/61.
func TestEfficiencies(t *testing.T) {
	e := analyzertest.Built(t, analyzertest.LateAtBarrier()).Efficiency
	assert.InDelta(t, 34.0/49, *e.LoadBalance, 1e-9)
	assert.InDelta(t, 49.0/61, *e.Communication, 1e-9)
	assert.InDelta(t, 34.0/61, *e.Parallel, 1e-9)
	assert.InDelta(t, 1, *e.Serialization, 1e-9)
	assert.InDelta(t, 49.0/61, *e.Transfer, 1e-9)
	assert.InDelta(t, *e.Parallel, *e.LoadBalance**e.Serialization**e.Transfer, 1e-9)
}

// 0/0 is not an efficiency. Two ranks execute only MPI: mean and maximum computation are 0 of 0.3
// s, so load balance is unknown and the parallel efficiency is 0. For a trace without calls all are
// unknown.
func TestEfficiencyOfNothingIsNotKnown(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(_ int, r *tracetest.Rank) { r.Init(0, 100).Collective("MPI_Barrier", 100, 200).Finalize(200, 300) })
	e := analyzertest.Built(t, b).Efficiency
	assert.Nil(t, e.LoadBalance)
	require.NotNil(t, e.Parallel)
	assert.Zero(t, *e.Parallel)
	assert.Zero(t, *e.Communication)
	assert.Equal(t, efficiency.Efficiency{}, analyzertest.Built(t, tracetest.New(2)).Efficiency)
	sums := analyzertest.Content(t, tracetest.Aggregated(t, tracetest.New(2).Content()))
	assert.Equal(t, efficiency.Efficiency{}, sums.Efficiency)
}
