package criticalpath_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyses/path"
	waitfindings "github.com/cairn-mpi/cairn/analyzer/analyses/waits"
	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// delay is a row of the root causes, in units.
type delay struct {
	rank        int
	what, where string
	short, long float64
}

func delays(f criticalpath.Findings) []delay {
	list := []delay{}
	for _, d := range f.RootCauses.Delays {
		list = append(list, delay{d.Rank, d.Function, d.CallSite, rounded(d.ShortTerm), rounded(d.LongTerm)})
	}
	return list
}

func rounded(seconds float64) float64 { return float64(int64(seconds*1e9+0.5)) / tracetest.Unit }

// TestDelayShortTerm: rank 1 waits 40 in MPI_Recv for rank 0, which computed 45 before its MPI_Send where rank 1
// computed 5 before its receive. All of the wait is the short-term cost of that computation.
func TestDelayShortTerm(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).At("a.c:1").Init(0, 5).At("a.c:10").Send(50, 55, 1).At("a.c:20").Finalize(60, 70)
	b.Rank(1).At("a.c:1").Init(0, 5).At("a.c:11").Recv(10, 58, 0, 8).At("a.c:20").Finalize(90, 100)
	f := analyze(t, b)
	assert.Equal(t, []delay{{0, "computation", "between MPI_Init at a.c:1 and MPI_Send at a.c:10", 40, 0}}, delays(f))
	assert.InDelta(t, 0.040, f.RootCauses.DirectSeconds, 1e-12)
	assert.Zero(t, f.RootCauses.UnexplainedSeconds)
	assert.InDelta(t, 0.040, *f.Ranks[0].DelayCost, 1e-12)
}

// TestDelayLongTerm: as before, and rank 1 then sends at 60 to rank 2, which has been waiting since
// 20. Of rank 2's 40, rank 1 is responsible for 1 of receiving and 9 of computing more than rank 2,
// out of 50 with the 40 that it waited itself: 40·1/50 = 0.8 and 40·9/50 = 7.2. The other 32 are
// long-term costs of rank 0's computation.
func TestDelayLongTerm(t *testing.T) {
	b := tracetest.New(3)
	b.Rank(0).At("a.c:1").Init(0, 5).At("a.c:10").Send(50, 51, 1).At("a.c:20").Finalize(52, 53)
	b.Rank(1).At("a.c:1").Init(0, 5).At("a.c:11").Recv(10, 51, 0, 8).At("a.c:12").Send(60, 61, 2).At("a.c:20").Finalize(62, 63)
	b.Rank(2).At("a.c:1").Init(0, 5).At("a.c:11").Recv(20, 62, 1, 8).At("a.c:20").Finalize(90, 100)
	f := analyze(t, b)
	assert.Equal(t, map[string]float64{"late sender": 80}, waits(f))
	assert.Equal(t, []delay{
		{0, "computation", "between MPI_Init at a.c:1 and MPI_Send at a.c:10", 40, 32},
		{1, "computation", "between MPI_Recv at a.c:11 and MPI_Send at a.c:12", 7.2, 0},
		{1, "MPI_Recv", "a.c:11", 0.8, 0},
	}, delays(f))
	assert.InDelta(t, 0.048, f.RootCauses.DirectSeconds, 1e-9)
	assert.InDelta(t, 0.032, f.RootCauses.IndirectSeconds, 1e-9)
	assert.Equal(t, []waitfindings.PairWait{{Rank: 1, Cause: 0, Kind: "late sender", Count: 1, Seconds: 0.04}, {Rank: 2, Cause: 1, Kind: "late sender", Count: 1, Seconds: 0.04}}, f.Waits.ByPair)
	assert.Equal(t, []waitfindings.SiteWait{{Kind: "late sender", Function: "MPI_Recv", CallSite: "a.c:11", Count: 2, Seconds: 0.08}}, f.Waits.ByCallSite)
	assert.Equal(t, []waitfindings.RankWait{{Rank: 1, Kind: "late sender", Count: 1, Seconds: 0.04}, {Rank: 2, Kind: "late sender", Count: 1, Seconds: 0.04}}, f.Waits.ByRank)
}

// TestDelaySinceLastInStep: after a barrier at 10 both are in step. Rank 0 then computes 40 while
// rank 1 computes 10 and waits 30; after the next barrier it is the other way round, 10 and 30.
// Over the whole run rank 1 computed less than rank 0 and could not be responsible for the 20;
// since the last barrier it computed 20 more.
func TestDelaySinceLastInStep(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("a.c:1").Init(0, 5).At("a.c:10").Collective("MPI_Barrier", 10, 10)
		r.Collective("MPI_Barrier", []float64{50, 20}[i], 50).Collective("MPI_Barrier", []float64{60, 80}[i], 80)
		r.At("a.c:20").Finalize(90, 100)
	})
	f := analyze(t, b)
	where := "between two calls of MPI_Barrier at a.c:10"
	assert.Equal(t, []delay{{0, "computation", where, 30, 0}, {1, "computation", where, 20, 0}}, delays(f))
}

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
	f := analyze(t, b)
	assert.Equal(t, []path.RankSlack{{Rank: 1, Seconds: 0.045}}, f.Path.NearCritical)
	assert.InDeltaSlice(t, []float64{0.028, 0.045, 0.050 / 85}, []float64{*f.Ranks[0].Slack, *f.Ranks[1].Slack, *f.Ranks[2].Slack}, 1e-8)
	// the path: rank 2 from 0 to 80, rank 0 from 80 to 100
	assert.Equal(t, []path.NodeShare{{Node: "b", Seconds: 0.08, Share: 0.8}, {Node: "a", Seconds: 0.02, Share: 0.2}}, f.Path.ByNode)
	assert.InDelta(t, 0.005, f.Ranks[0].Initialization, 1e-12)
	assert.InDelta(t, 0.010, f.Ranks[1].Finalization, 1e-12)
}

// TestWrongOrder: rank 0 waits for rank 1's message of tag 1, sent at 40 (30), and only then
// receives that of tag 2, sent at 20 by the same rank: same source. It waits for rank 2's, sent at
// 70 (20), and then receives the one that rank 1 sent at 60.
func TestWrongOrder(t *testing.T) {
	b := tracetest.New(3)
	receive := func(enter, exit float64, source, tag int) {
		b.Rank(0).Call("MPI_Recv", enter, exit, tracetest.Args{"source": source, "tag": tag, "status": tracetest.Status{Source: source, Tag: tag, Bytes: 8}})
	}
	b.Rank(0).Init(0, 5)
	receive(10, 41, 1, 1)
	receive(42, 43, 1, 2)
	receive(50, 71, 2, 0)
	receive(72, 73, 1, 0)
	b.Rank(0).Finalize(95, 100)
	b.Rank(1).Init(0, 5).Call("MPI_Send", 20, 21, tracetest.Args{"dest": 0, "tag": 2}).Call("MPI_Send", 40, 41, tracetest.Args{"dest": 0, "tag": 1}).Send(60, 61, 0).Finalize(62, 63)
	b.Rank(2).Init(0, 5).Send(70, 71, 0).Finalize(72, 73)
	f := analyze(t, b)
	assert.Equal(t, map[string]float64{
		"late sender": 30 + 20, "late sender, wrong order, same source": 30, "late sender, wrong order, different sources": 20,
	}, waits(f))
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
	f := analyze(t, b)
	// 20 of thread 0, 40 of thread 1, and rank 1 waits 20 for thread 1
	assert.Equal(t, map[string]float64{"late sender": 20 + 40 + 20}, waits(f))
	assert.Equal(t, []piece{
		{1, 0, 5, "MPI_Init"}, {1, 5, 30, "computation"}, {1, 30, 31, "MPI_Send"}, {1, 31, 60, "computation"},
		{0, 60, 61, "MPI_Recv"}, {0, 61, 90, "computation"}, {1, 90, 92, "MPI_Recv"}, {1, 92, 98, "computation"}, {1, 98, 110, "MPI_Finalize"},
	}, pieces(f))
	assert.InDelta(t, 0.020, *f.Ranks[0].Waiting, 1e-9, "of the first thread")
	assert.Equal(t, waitfindings.RankWait{Rank: 0, Kind: "late sender", Count: 2, Seconds: 0.06}, f.Waits.ByRank[0])
}

// TestPhasesAddUp: the path in the phases and outside adds up to the run; and each phase's and
// window's communication efficiency is serialization times transfer.
func TestPhasesAddUp(t *testing.T) {
	b := tracetest.Stencil{Ranks: 4, Iterations: 60, Reduce: 5, Latency: 0.5, Work: func(rank, _ int) float64 { return 2 + float64(rank)/4 }}.Build()
	f, err := criticalpath.Analyze(context.Background(), timeline.Of(b.Open(t)), criticalpath.Options{})
	require.NoError(t, err)
	sum := 0.0
	for _, p := range f.Path.ByPhase {
		sum += p.Seconds
	}
	assert.InDelta(t, f.RunSeconds, sum, 1e-9)
	for _, p := range f.Phases.Phases {
		if p.Loop {
			assert.InDelta(t, p.Efficiency.Communication, p.Efficiency.Serialization*p.Efficiency.Transfer, 1e-9)
			// 60 iterations: the slowest rank computes 2.75 in each; on an ideal network it does
			// not wait
			assert.InDelta(t, 60*2.75e-3, p.Efficiency.IdealSeconds, 0.01*60*2.75e-3)
			assert.Greater(t, p.Path, 0.9*f.RunSeconds*f.Path.ByPhase[1].Share)
		}
	}
	for i, w := range f.Phases.Windows {
		if w.Efficiency.Parallel > 0 {
			assert.InDelta(t, w.Efficiency.Communication, w.Efficiency.Serialization*w.Efficiency.Transfer, 1e-9, "window %d", i)
			assert.LessOrEqual(t, w.Efficiency.Transfer, 1+1e-9)
		}
	}
}
