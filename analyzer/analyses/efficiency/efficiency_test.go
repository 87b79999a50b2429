package efficiency_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyses/efficiency"
	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
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

// Two ranks compute 100 between two barriers: rank 0 with four threads that have a CPU for 100, 50,
// 30 and 20 of it, rank 1 alone for 90. A fifth thread of rank 0 hardly ever runs. So threads have
// a CPU for 290 of 500. Ranks compute for 110 of 123: 10 before the first barrier is not measured.
func TestThreadEfficiency(t *testing.T) {
	team := func(known int64) *tracetest.Builder {
		b := tracetest.New(2)
		b.Ranks(func(i int, r *tracetest.Rank) {
			r.At("t.c:1").Init(0, 1).At("t.c:2").Collective("MPI_Barrier", 11, 12).Collective("MPI_Barrier", 112, 113).At("t.c:3").Finalize(113, 123)
			barrier := trace.CallSite{Function: mpi.ByName("MPI_Barrier").ID, Site: 2}
			row := trace.EvidenceRow{
				EvidenceKey: trace.EvidenceKey{After: barrier, Before: barrier}, Count: 1,
				WallNS: 100 * tracetest.Unit, CPUNS: []int64{100, 90}[i] * tracetest.Unit, OtherCPUNS: []int64{100, 0}[i] * tracetest.Unit * known,
			}
			if known < 0 {
				row.OtherCPUNS = trace.Unknown
			}
			info := r.Info()
			info.PID, info.Evidence = 7, []trace.EvidenceRow{row}
			for k, cpu := range [][]int64{{100, 50, 30, 20, 1}, {90}}[i] {
				info.Threads = append(info.Threads, trace.ThreadUsage{TID: 7 + k, CPUNS: cpu * tracetest.Unit})
			}
		})
		return b
	}
	e := analyzertest.Built(t, team(1)).Efficiency
	require.NotNil(t, e.Thread)
	assert.InDelta(t, 110.0/123, *e.Parallel, 1e-9)
	assert.InDelta(t, 2.5, *e.Threads, 1e-9)
	assert.InDelta(t, 290.0/500, *e.Thread, 0.01)
	assert.InDelta(t, *e.Parallel**e.Thread, *e.Hybrid, 1e-9)
	e = analyzertest.Built(t, team(-1)).Efficiency
	assert.Nil(t, e.Thread)
	assert.Nil(t, e.Hybrid)
}

// 20 iterations of 10 each, of which rank 1 computes 9 and rank 0 4, after a start of 1000: the
// loop's efficiency does not have it.
func TestEfficiencyOfTheMainLoop(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("m.c:1").Init(0, 1000)
		for k := range 20 {
			now := 1000 + 10*float64(k)
			r.At("m.c:2").Collective("MPI_Barrier", now+[]float64{4, 9}[i], now+10)
		}
		r.At("m.c:3").Finalize(1200, 1300)
	})
	e := analyzertest.Built(t, b).Efficiency
	require.NotNil(t, e.MainLoop)
	assert.Less(t, *e.Parallel, 0.11)
	assert.InDelta(t, 0.65, e.MainLoop.Parallel, 0.02)
	assert.InDelta(t, 6.5/9, e.MainLoop.LoadBalance, 0.02)
	assert.InDelta(t, 0.9, e.MainLoop.Communication, 0.02)
	assert.InDelta(t, 0.2, e.MainLoop.Seconds, 0.015)
}
