package causes_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// grows returns eight ranks that compute 2 before the first barrier of each of 20 iterations, and 2
// + r/2 before the second one. A barrier ends 0.5 after the last entry.
func grows() *tracetest.Builder {
	b := tracetest.New(8)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("g.c:1").Init(0, 1)
		now := 1.0
		for range 20 {
			r.At("g.c:2").Collective("MPI_Barrier", now+2, now+2.5)
			now += 2.5
			r.At("g.c:3").Collective("MPI_Barrier", now+2+float64(i)/2, now+6)
			now += 6
		}
		r.At("g.c:4").Finalize(now, now+1)
	})
	return b
}

// An iteration takes 2 + 0.5 + 5.5 + 0.5 = 8.5 units of a millisecond; the mean before the second
// barrier is 2 + 3.5/2 = 3.75, with which it would take 6.75. So the run takes 1 + 170 + 1 = 172
// and would take 137: 35 less. In all, rank 0 computes 80, rank 7 computes 150, the mean is 115.
// Next are the barriers: 40 of 0.5 each.
func TestImbalanceInOneRegion(t *testing.T) {
	f := find(t, grows().Content())
	v := f.Verdict
	require.Equal(t, verdict.Imbalance, v.Blames, v.Text)
	assert.Nil(t, v.Rank)
	spread := *v.Causes[0].Spread
	assert.InDelta(t, 0.115, spread.Mean, 1e-9)
	spread.Mean = 0.115
	assert.Equal(t, verdict.Spread{Ranks: "0-7", Least: 0.080, Mean: 0.115, Most: 0.150, MaxRank: 7, Shape: verdict.ByRank, Grows: true}, spread)
	assert.Equal(t, "g.c:3", v.Causes[0].Before.CallSite)
	assert.Equal(t, verdict.Call{Function: "MPI_Barrier", CallSite: "g.c:2"}, v.Causes[0].After)
	assert.InDelta(t, 0.035, *v.GainSeconds, 1e-6)
	assert.Equal(t, "Unequal work makes this job slow: ranks 0-7 compute between 80 ms and 150 ms each, rank 7 the longest; it grows with the rank; they differ most in main, between MPI_Barrier at g.c:2 and MPI_Barrier at g.c:3. If work were divided equally, the run would take 35 ms less (of 172 ms). Next: collectives, most of all MPI_Barrier at g.c:2 (another 20 ms). The run is short, 170 ms between the start and the end of MPI: a longer one shows this more surely.", v.Text)
	equal := map[string]float64{}
	for _, w := range f.WhatIf {
		if w.Kind == verdict.Imbalance {
			equal[w.What] = w.Seconds
		}
	}
	assert.InDelta(t, 0.137, equal["all ranks had equal work"], 1e-6)
	assert.InDelta(t, 0.137, equal["all ranks had equal work each time"], 1e-6, "it gives no more")
}

// Four ranks compute 4 in turn and 1 otherwise, in 20 iterations that end 0.5 after the last: 1 +
// 20 · 4.5 + 1 = 92 units. Each computes 5 · 4 + 15 · 1 = 35 in total. With 1.75 each time the run
// would take 1 + 20 · 2.25 + 1 = 47.
func TestImbalanceFromIterationToIteration(t *testing.T) {
	b := tracetest.New(4)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("t.c:1").Init(0, 1)
		for k := range 20 {
			now, work := 1+4.5*float64(k), 1.0
			if k%4 == i {
				work = 4
			}
			r.At("t.c:2").Collective("MPI_Allreduce", now+work, now+4.5)
		}
		r.At("t.c:3").Finalize(91, 92)
	})
	f := find(t, b.Content())
	v := f.Verdict
	require.Equal(t, verdict.Imbalance, v.Blames, v.Text)
	assert.Equal(t, verdict.ByIteration, v.Causes[0].Spread.Shape)
	assert.InDelta(t, 1, *f.Efficiency.LoadBalance, 1e-9)
	assert.InDelta(t, 0.045, *v.GainSeconds, 0.003, v.Text)
	assert.Contains(t, v.Text, "now one rank and now another computes longest")
}

// Rank r computes 6(r + 1) before an allreduce, in 40 iterations, and the barrier that follows
// lasts 0.2. What is between the two, 0.1 at most and on another rank each time, is not the cause:
// the replay of it gains next to nothing.
func TestGradientBesideTwoCollectives(t *testing.T) {
	b := tracetest.New(4)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("g.c:1").Init(0, 1)
		for k := range 40 {
			now, little := 1+25*float64(k), 0.01
			if k%4 == i {
				little = 0.1
			}
			r.At("g.c:2").Collective("MPI_Allreduce", now+6*float64(i+1), now+24.2)
			r.At("g.c:3").Collective("MPI_Barrier", now+24.2+little, now+24.5)
		}
		r.At("g.c:4").Finalize(1001, 1002)
	})
	v := judged(t, b)
	require.Equal(t, verdict.Imbalance, v.Blames, v.Text)
	assert.Equal(t, verdict.Gradient, v.Causes[0].Form, v.Text)
	assert.InDelta(t, 0.36, *v.GainSeconds, 0.02, v.Text) // 40 · (24 − 15)
	assert.Len(t, v.Causes, 1, v.Text)
}

// The same rank is busiest each time: the barrier costs nothing, and no work moves. Every second
// barrier, on the same line, has no work before it.
func TestOddRanksBeforeABarrier(t *testing.T) {
	b := tracetest.New(4)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("o.c:1").Init(0, 1)
		for k := range 60 {
			now := 1 + 6*float64(k)
			r.At("o.c:2").Collective("MPI_Barrier", now+0.01, now+0.1)
			r.At("o.c:2").Collective("MPI_Barrier", now+0.11+5*float64(i%2), now+6)
		}
		r.At("o.c:3").Finalize(361, 362)
	})
	v := judged(t, b)
	require.Equal(t, verdict.Imbalance, v.Blames, v.Text)
	assert.Equal(t, verdict.Classes, v.Causes[0].Form, v.Text)
	assert.Equal(t, "1,3", v.Ranks)
	assert.Contains(t, v.Text, "ranks 1,3 compute longer than the rest")
}

// A master gives 30 tasks of 20 each to workers 1 and 2, and none to 3 and 4, which wait until the
// end. Each answer takes 1. With the work shared by four, tasks take 10.
func TestWorkersWithoutWork(t *testing.T) {
	b := tracetest.New(5)
	const tasks = 30
	end := 1.0 + 21*tasks
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("w.c:1").Init(0, 1)
		switch {
		case i == 0:
			for task := range tasks {
				now := 1 + 21*float64(task)
				for _, worker := range []int{1, 2} {
					r.At("w.c:2").Send(now, now+0.1, worker)
					now += 0.1
				}
				for _, worker := range []int{1, 2} {
					r.At("w.c:3").Recv(now, 1+21*float64(task+1), worker, 4)
					now = 1 + 21*float64(task+1)
				}
			}
		case i < 3:
			for task := range tasks {
				now := 1 + 21*float64(task)
				r.At("w.c:5").Recv(now, now+0.2, 0, 4)
				r.At("w.c:6").Send(now+20.2, now+20.3, 0)
			}
		}
		begin := end
		if i > 2 {
			begin = 1.1
		}
		r.At("w.c:7").Collective("MPI_Barrier", begin, end+0.5)
		r.At("w.c:8").Finalize(end+0.5, end+1)
	})
	v := judged(t, b)
	require.Equal(t, verdict.Imbalance, v.Blames, v.Text)
	assert.Equal(t, verdict.Idle, v.Causes[0].Form, v.Text)
	assert.Equal(t, "3-4", v.Ranks)
	assert.InDelta(t, 0.3, *v.GainSeconds, 0.01)
	assert.Regexp(t, `^Work that only some ranks get makes this job slow: ranks 3-4 wait in MPI_Barrier at w.c:7 for 630 ms and have next to nothing to do, while ranks 1-2 compute for up to 621 ms each\. If work were divided equally, the run would take \d+ ms less \(of 632 ms\)\.`, v.Text)
}

// Rank 0 of two computes ever less and rank 1 ever more, 20 in each of 80 iterations together: a
// trend is no alternation.
func TestImbalanceThatMovesWithTime(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("t.c:1").Init(0, 1)
		now := 1.0
		for k := range 80 {
			work := 18 - 0.2*float64(k)
			if i == 1 {
				work = 20 - work
			}
			r.At("t.c:2").Collective("MPI_Allreduce", now+work, now+max(work, 20-work)+0.1)
			now += max(work, 20-work) + 0.1
		}
		r.At("t.c:3").Finalize(now, now+1)
	})
	v := find(t, b.Content()).Verdict
	require.Equal(t, verdict.Imbalance, v.Blames, v.Text)
	assert.Equal(t, verdict.Moving, v.Causes[0].Form)
	assert.Equal(t, verdict.ByTime, v.Causes[0].Spread.Shape)
	assert.Contains(t, v.Text, "at first rank 0 computes longest between two calls of MPI_Allreduce at t.c:2, in the end rank 1; in total ranks 0-1 compute there")
}
