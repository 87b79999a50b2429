package route_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/analyses/path"
	waitfindings "github.com/cairn-mpi/cairn/analyzer/analyses/waits"
	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// TestSlack: the ranks of the pattern "barrier" (entries 10, 20, 80; MPI_Finalize at 95, 90, 85,
// all leave at 100). The path is on ranks 2 and 0. The barrier after its last entry belongs to all.
// Rank 1 may be 5 later from 80 to 90, and 65 from 0 to 20: (10 x 5 + 20 x 65) / 30 = 45. Rank 0
// has no slack from 80 to 95, and 70 from 0 to 10: 700 / 25 = 28. Rank 2 may be 10 later from 80 to
// 85, and has none before: 50 / 85.
func TestSlack(t *testing.T) {
	b := tracetest.New(3)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Info().Node = []string{"a", "b", "b"}[i]
		r.Init(0, 5).Collective("MPI_Barrier", []float64{10, 20, 80}[i], 82).Finalize([]float64{95, 90, 85}[i], 100)
	})
	f := analyzertest.Built(t, b)
	assert.Equal(t, []path.RankSlack{{Rank: 1, Seconds: 0.045}}, f.Path.NearCritical)
	assert.InDeltaSlice(t, []float64{0.028, 0.045, 0.050 / 85}, []float64{*f.Ranks[0].Slack, *f.Ranks[1].Slack, *f.Ranks[2].Slack}, 1e-8)
	// the path: rank 2 from 0 to 80, rank 0 from 80 to 100
	assert.Equal(t, []path.NodeShare{{Node: "b", Seconds: 0.08, Share: 0.8}, {Node: "a", Seconds: 0.02, Share: 0.2}}, f.Path.ByNode)
	assert.InDelta(t, 0.005, f.Ranks[0].Initialization, 1e-12)
	assert.InDelta(t, 0.010, f.Ranks[1].Finalization, 1e-12)
}

// TestThreads: rank 0 has two threads that each receive from rank 1, with tags 0 and 1. The second
// one waits from 20 to 60 while the first computes; then the first does not wait. The waits of both
// threads are reported.
func TestThreads(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(0, 5).Recv(10, 31, 1, 8).Finalize(98, 100)
	b.Rank(0).Thread().Call("MPI_Recv", 20, 61, tracetest.Args{"source": 1, "tag": 1, "status": tracetest.Status{Source: 1, Tag: 1, Bytes: 8}}).
		Send(90, 91, 1)
	b.Rank(1).Init(0, 5).Send(30, 31, 0).Call("MPI_Send", 60, 61, tracetest.Args{"dest": 0, "tag": 1}).Recv(70, 92, 0, 8).Finalize(98, 110)
	f := analyzertest.Built(t, b)
	// 20 of thread 0, 40 of thread 1, and rank 1 waits 20 for thread 1
	assert.Equal(t, map[string]float64{"late sender": 20 + 40 + 20}, f.Waited())
	assert.Equal(t, []piece{
		{1, 0, 5, "MPI_Init"}, {1, 5, 30, "computation"}, {1, 30, 31, "MPI_Send"}, {1, 31, 60, "computation"},
		{0, 60, 61, "MPI_Recv"}, {0, 61, 90, "computation"}, {1, 90, 92, "MPI_Recv"}, {1, 92, 98, "computation"}, {1, 98, 110, "MPI_Finalize"},
	}, pieces(f))
	assert.InDelta(t, 0.020, *f.Ranks[0].Waiting, 1e-9, "of the first thread")
	assert.Equal(t, waitfindings.RankWait{Rank: 0, Kind: "late sender", Count: 2, Seconds: 0.06}, f.Waits.ByRank[0])
}

// TestNothingAtAll: a trace without a call is a finding too. Sums have no path.
func TestNothingAtAll(t *testing.T) {
	f := analyzertest.Built(t, tracetest.New(2))
	assert.Zero(t, f.RunSeconds)
	assert.Nil(t, f.Verdict.Rank)
	assert.Nil(t, analyzertest.Content(t, tracetest.Aggregated(t, analyzertest.LateAtBarrier().Content())).Path)
}
