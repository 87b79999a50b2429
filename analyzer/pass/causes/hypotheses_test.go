package causes_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// predicted returns the predicted duration of the run in units, by hypothesis.
func predicted(f findings) map[string]float64 {
	lengths := map[string]float64{}
	for _, w := range f.WhatIf {
		lengths[w.What] = w.Seconds * 1e9 / tracetest.Unit
	}
	return lengths
}

// Rank 1 makes an additional call between Init and the barrier, so that it has no region in common
// with the others.
//
//	ranks 0, 2: Init 0-10, Barrier 20-52 (wait until 51),          Finalize 62-63
//	rank 1:     Init 0-10, Barrier of its own 30-31, Barrier 51-52, Finalize 62-63
//
// Treated as one region, ranks 0 and 2 compute 10 before the barrier and rank 1 computes 40; the
// mean is 20. With that, rank 1 enters the barrier at 10 + 10 + 1 + 10 = 31, so that the run takes
// 43.
func TestEqualWorkInRegionsTakenTogether(t *testing.T) {
	b := tracetest.New(3)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("e.c:1").Init(0, 10)
		enter := 20.0
		if i == 1 {
			r.At("e.c:2").Call("MPI_Barrier", 30, 31, tracetest.Args{"comm": "MPI_COMM_SELF"})
			enter = 51
		}
		r.At("e.c:3").Collective("MPI_Barrier", enter, 52).At("e.c:4").Finalize(62, 63)
	})
	lengths := predicted(find(t, b.Content()))
	assert.InDelta(t, 43, lengths["all ranks had equal work"], 1e-6)
	assert.InDelta(t, 43, lengths["all ranks had equal work each time"], 1e-6)
}

// All compute 10 before the barrier and after the broadcast. In between rank 0, the root, computes
// 40 and the others 1. That is work that rank 0 does alone, so equal work does not move it: the run
// still takes 73. If all three had a part of it, it would take 40 − 40/3 less; if rank 0 computed
// the 1 of the others, 39 less.
func TestWorkAlone(t *testing.T) {
	b := tracetest.New(3)
	b.Ranks(func(i int, r *tracetest.Rank) {
		enter := 22.0
		if i == 0 {
			enter = 61
		}
		r.At("s.c:1").Init(0, 10).At("s.c:2").Collective("MPI_Barrier", 20, 21).At("s.c:3").Rooted("MPI_Bcast", enter, 62, 0).At("s.c:4").Finalize(72, 73)
	})
	f := find(t, b.Content())
	lengths := predicted(f)
	const where = " between MPI_Barrier at s.c:2 and MPI_Bcast at s.c:3"
	assert.InDelta(t, 73-40+40.0/3, lengths["all ranks had a part of what rank 0 computes alone, most of it"+where], 1e-5)
	assert.InDelta(t, 34, lengths["rank 0 computed as long as the others"+where], 1e-5)
	assert.NotContains(t, lengths, "all ranks had equal work", "it gains nothing")
	require.NotNil(t, f.Verdict.Rank, f.Verdict.Text)
	assert.Equal(t, 0, *f.Verdict.Rank)
}

// A token passes through four ranks 20 times; its holder computes 10. That is a chain: one rank
// computes at a time, and each wait has the same length.
func TestChain(t *testing.T) {
	const ranks, rounds = 4, 20
	b := tracetest.New(ranks)
	b.Ranks(func(_ int, r *tracetest.Rank) { r.At("c.c:1").Init(0, 10) })
	now, since := 10.0, []float64{10, 10, 10, 10}
	for k := range rounds {
		for i := range ranks {
			r := b.Rank(i)
			if k > 0 || i > 0 {
				r.At("c.c:2").Recv(since[i]+0.1, now+0.1, (i+ranks-1)%ranks, 8)
				now += 0.1
			}
			r.At("c.c:3").Send(now+10, now+10.1, (i+1)%ranks)
			now, since[i] = now+10, now+10.1
		}
	}
	b.Rank(0).At("c.c:2").Recv(since[0]+0.1, now+0.2, ranks-1, 8)
	b.Ranks(func(_ int, r *tracetest.Rank) { r.At("c.c:4").Finalize(now+1, now+2) })
	v := find(t, b.Content()).Verdict
	require.Equal(t, verdict.Serialization, v.Blames, v.Text)
	c := v.Causes[0]
	assert.Equal(t, verdict.Chain, c.Form)
	assert.Nil(t, v.Rank, v.Text)
	assert.InDelta(t, 1, c.AtOnce, 0.05)
	assert.Equal(t, verdict.Call{Function: "MPI_Recv", CallSite: "c.c:2"}, c.Before)
	// all could compute at once: 200 each of the 800
	assert.InDelta(t, 0.600, *v.GainSeconds, 0.03)
}

// In a wavefront ranks wait until the pipeline is filled, and hardly after that.
func TestPipeline(t *testing.T) {
	v := simulated(t, simulate.Config{Pattern: "wavefront", Ranks: 16, Iterations: 10, Steps: 4, Compute: 1_000_000}).Verdict
	require.Equal(t, verdict.Serialization, v.Blames, v.Text)
	assert.Equal(t, verdict.Pipeline, v.Causes[0].Form)
	assert.Nil(t, v.Rank, v.Text)
}

// A worker that takes twice as long per task gets fewer tasks, so that all are busy
// equally long. The gain is an estimate; a simulation of the run without the slowdown gives the
// expected value.
func TestSlowWorker(t *testing.T) {
	c := simulate.Config{Pattern: "master-worker", Ranks: 9, Iterations: 40, Compute: 1_000_000, Imbalance: simulate.Imbalance{Noise: 5}}
	equal := simulated(t, c)
	assert.Nil(t, equal.Verdict.Rank, equal.Verdict.Text)
	c.Imbalance.SlowRank, c.Imbalance.SlowPercent = 6, 100
	f := simulated(t, c)
	v := f.Verdict
	require.Equal(t, verdict.Excess, v.Blames, v.Text)
	assert.Equal(t, "6", v.Ranks, v.Text)
	cause := v.Causes[0]
	assert.Less(t, float64(cause.Of), 0.8*cause.OthersOf)
	assert.InDelta(t, 2, cause.EachSeconds / *cause.OthersSeconds, 0.1)
	truth := f.RunSeconds - equal.RunSeconds
	assert.InDelta(t, truth, *v.GainSeconds, 0.3*truth, v.Text)
}

// All containers are throttled for 8 at the same time in every fifth of 210 iterations, 336 in
// total, as counted by the kernel. The cause is the limits, not a particular rank. Without them the
// run is shorter by that time.
func TestLimitsStopAll(t *testing.T) {
	b := tracetest.Stencil{Ranks: 8, Iterations: 210, Reduce: 7, Work: func(_, k int) float64 {
		if k%5 == 0 {
			return 2 + 8
		}
		return 2
	}}.Build()
	b.Ranks(func(_ int, r *tracetest.Rank) {
		r.Info().Context = []trace.ContextSample{{}, {MonotonicNS: 770 * tracetest.Unit, CPUNS: 434 * tracetest.Unit, ThrottledNS: 336 * tracetest.Unit}}
	})
	v := find(t, b.Content()).Verdict
	require.Equal(t, verdict.CPUs, v.Blames, v.Text)
	assert.Equal(t, verdict.Limits, v.Causes[0].Form)
	assert.Nil(t, v.Rank)
	assert.InDelta(t, 0.336, *v.GainSeconds, 0.01)
}

// Of two ranks, one computes 3 and the other 6 in 40 iterations, which end 0.5 later: 1 + 40 · 6.5
// + 1 = 262. If the slower one computed as long as the other, the run would take 120 less; if they
// shared that work, 4.5 each, 60 less.
func TestTwoRanks(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("t.c:1").Init(0, 1)
		now := 1.0
		for range 40 {
			r.At("t.c:2").Collective("MPI_Barrier", now+3+3*float64(i), now+6.5)
			now += 6.5
		}
		r.At("t.c:3").Finalize(now, now+1)
	})
	v := judged(t, b)
	require.Equal(t, verdict.Excess, v.Blames, v.Text)
	// the first and the last iteration are regions of their own
	assert.InDelta(t, 0.120, *v.GainSeconds, 0.0031, v.Text)
	require.NotNil(t, v.Causes[0].SharedGainSeconds)
	assert.InDelta(t, 0.060, *v.Causes[0].SharedGainSeconds, 0.0016, v.Text)
	assert.Regexp(t, `If the rank itself is slow, the run would take 1\d\d ms less \(of 262 ms\) without that; if it has more work, the run would take 58\.5 ms less if both ranks shared it\.`, v.Text)
}

// Rank 1 of two computes for 60 before the first of 40 iterations, alone. If the two shared that,
// the run would take 30 less.
func TestTwoRanksShareTheSetup(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("t.c:1").Init(0, 1)
		r.At("t.c:2").Collective("MPI_Barrier", 1.1+60*float64(i), 61.5)
		now := 61.5
		for range 40 {
			r.At("t.c:3").Collective("MPI_Allreduce", now+3, now+3.5)
			now += 3.5
		}
		r.At("t.c:4").Finalize(now, now+1)
	})
	v := judged(t, b)
	require.Equal(t, verdict.Excess, v.Blames, v.Text)
	assert.Equal(t, "1", v.Ranks)
	assert.InDelta(t, 0.060, *v.GainSeconds, 0.0001, v.Text)
	require.NotNil(t, v.Causes[0].SharedGainSeconds)
	assert.InDelta(t, 0.030, *v.Causes[0].SharedGainSeconds, 0.0001, v.Text)
}

// Of two ranks, in each of 60 iterations first one computes for 13 and then the other, each while
// the other computes for 3. Sharing the work of one of these regions, 8 each, gains 5 in each
// iteration, and not what both would.
func TestTwoRanksShareOneRegion(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("t.c:1").Init(0, 1)
		now, first, second := 1.0, 13-10*float64(i), 3+10*float64(i)
		for range 60 {
			r.At("t.c:2").Collective("MPI_Allreduce", now+first, now+13.5)
			r.At("t.c:3").Collective("MPI_Allreduce", now+13.5+second, now+27)
			now += 27
		}
		r.At("t.c:4").Finalize(now, now+1)
	})
	v := judged(t, b)
	require.Equal(t, verdict.Excess, v.Blames, v.Text)
	assert.InDelta(t, 0.600, *v.GainSeconds, 0.011, v.Text)
	require.NotNil(t, v.Causes[0].SharedGainSeconds)
	assert.InDelta(t, 0.300, *v.Causes[0].SharedGainSeconds, 0.006, v.Text)
}
