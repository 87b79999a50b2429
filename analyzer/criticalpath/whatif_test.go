package criticalpath_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waitfindings "github.com/cairn-mpi/cairn/analyzer/analyses/waits"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// lateAtBarrier: rank 1 computes 40 before a barrier, rank 0 computes 10; both 9 after it.
//
//	rank 0: Init 0-10, Barrier 20-51 (waits until 50), Finalize 60-61
//	rank 1: Init 0-10, Barrier 50-51,                  Finalize 60-61
func lateAtBarrier() *tracetest.Builder {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("w.c:1").Init(0, 10).At("w.c:2").Collective("MPI_Barrier", float64(20+30*i), 51).At("w.c:3").Finalize(60, 61)
	})
	return b
}

// On an ideal network MPI takes no time: rank 1 enters the barrier at 40, all enter Finalize at 49.
// If rank 1 computes the 10 that rank 0 does, both enter the barrier at 20, leave it 1 later and
// end at 21 + 9 + 1 = 31, whether in all regions or only there, because it computes longer only
// there. If both compute 25 before the barrier, they enter it at 35 and end at 36 + 9 + 1 = 46;
// they enter it once, so that equal work in each iteration is the same.
func TestWhatIf(t *testing.T) {
	f := analyze(t, lateAtBarrier())
	type prediction struct {
		kind    verdict.Kind
		what    string
		seconds float64
	}
	var told []prediction
	for _, w := range f.WhatIf {
		assert.InDelta(t, 1-w.Seconds/f.RunSeconds, w.Gain, 1e-9, w.What)
		assert.NotEmpty(t, w.Assumes, w.What)
		told = append(told, prediction{w.Kind, w.What, w.Seconds})
	}
	assert.Equal(t, []prediction{
		{verdict.Network, "the network and MPI cost nothing", 0.049},
		{verdict.Excess, "rank 1 computed as long as the others", 0.031},
		{verdict.Excess, "rank 1 computed as long as the others between MPI_Init at w.c:1 and MPI_Barrier at w.c:2", 0.031},
		{verdict.Imbalance, "all ranks had equal work", 0.046},
		{verdict.Imbalance, "all ranks had equal work each time", 0.046},
	}, told)
}

// The indicator is the computation on the path beyond the mean of the ranks: 40 − (10 + 40) / 2 =
// 15 before the barrier, 9 − 9 = 0 after it.
func TestImbalanceIndicator(t *testing.T) {
	f := analyze(t, lateAtBarrier())
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

// Useful are 10 + 9 of rank 0 and 40 + 9 of rank 1, mean 34; the run takes 61, 49 on an ideal
// network. Load balance is 34/49, communication 49/61: serialization 49/49, because ranks wait only
// for rank 1's computation, and transfer 49/61.
func TestEfficiencies(t *testing.T) {
	e := analyze(t, lateAtBarrier()).Efficiency
	assert.InDelta(t, 34.0/49, *e.LoadBalance, 1e-9)
	assert.InDelta(t, 49.0/61, *e.Communication, 1e-9)
	assert.InDelta(t, 34.0/61, *e.Parallel, 1e-9)
	assert.InDelta(t, 1, *e.Serialization, 1e-9)
	assert.InDelta(t, 49.0/61, *e.Transfer, 1e-9)
	assert.InDelta(t, *e.Parallel, *e.LoadBalance**e.Serialization**e.Transfer, 1e-9)
}

// Rank 0 waits 30 in the barrier at w.c:2, for rank 1.
func TestWaitsByRankCallSiteAndPair(t *testing.T) {
	w := analyze(t, lateAtBarrier()).Waits
	assert.Equal(t, []waitfindings.RankWait{{Rank: 0, Kind: "wait at barrier", Count: 1, Seconds: 0.03}}, w.ByRank)
	assert.Equal(t, []waitfindings.SiteWait{{Kind: "wait at barrier", Function: "MPI_Barrier", CallSite: "w.c:2", Count: 1, Seconds: 0.03}}, w.ByCallSite)
	assert.Equal(t, []waitfindings.PairWait{{Rank: 0, Cause: 1, Kind: "wait at barrier", Count: 1, Seconds: 0.03}}, w.ByPair)
}

// Rank 0 sends three messages; rank 1 receives one and posts a receive for another, which it never
// waits for. The third is reported, with rank and call site, and does not affect other findings.
func TestUnmatchedOperationsAreNamed(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).At("u.c:1").Init(0, 10).At("u.c:2").Send(20, 21, 1).At("u.c:3").Send(22, 23, 1).Send(24, 25, 1).At("u.c:9").Finalize(60, 61)
	b.Rank(1).At("u.c:1").Init(0, 10).At("u.c:5").Recv(15, 21, 0, 8).At("u.c:6").Irecv(22, 23, 0, tracetest.Request(0)).At("u.c:9").Finalize(60, 61)
	f := analyze(t, b)
	assert.Equal(t, map[string]float64{"late sender": 5}, waits(f))
	assert.ElementsMatch(t, []string{"Send without receive: 1 × MPI_Send at u.c:3 on rank 0."}, f.Notes)
}
