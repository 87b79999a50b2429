package phases_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

func analyze(t *testing.T, b *tracetest.Builder) phases.Findings {
	t.Helper()
	f, err := phases.Analyze(context.Background(), timeline.Of(b.Open(t)), nil, nil)
	require.NoError(t, err)
	return f
}

// noisy returns work of 5 ms ± 5 %, times factor(rank, iteration).
func noisy(seed uint64, factor func(rank, iteration int) float64) func(int, int) float64 {
	random := rand.New(rand.NewPCG(seed, 9))
	return func(rank, iteration int) float64 {
		return 5 * (0.95 + 0.1*random.Float64()) * factor(rank, iteration)
	}
}

func even(int, int) float64 { return 1 }

// TestStencilIsThreePhases: initialization, 250 time steps, end; the ranks at the ends make 3 calls
// in a step, the others 5 (two receives, two sends, one wait), with a reduction after every tenth.
func TestStencilIsThreePhases(t *testing.T) {
	f := analyze(t, tracetest.Stencil{Ranks: 6, Iterations: 250, Reduce: 10, Work: noisy(1, even)}.Build())
	require.Len(t, f.Phases, 3, f.Text)
	assert.Equal(t, "initialization", f.Phases[0].Name)
	assert.Equal(t, "end", f.Phases[2].Name)
	l := f.Phases[1]
	assert.Equal(t, "loop stencil.c:70–95", l.Name)
	assert.Equal(t, uint64(250), l.Iterations, f.Text)
	assert.Equal(t, 6, l.Ranks)
	assert.InDelta(t, (4*5+2*3)/6.0+0.1, l.CallsPerIteration, 1e-9)
	assert.Equal(t, uint64(4*5*250+2*3*250+6*25), l.Calls)
	// by hand: the loop computes 250 × 5 ms ± little on each rank
	assert.InDelta(t, 6*1.25, l.Computation, 0.05)
	assert.Greater(t, l.Efficiency.LoadBalance, 0.98)
	assert.InDelta(t, l.Efficiency.LoadBalance*l.Efficiency.Communication, l.Efficiency.Parallel, 1e-12)
	assert.Empty(t, l.Drifts)
	assert.Empty(t, l.Outliers)
	require.Len(t, f.Windows, 20)
	assert.Greater(t, f.Windows[10].Efficiency.LoadBalance, 0.95)
}

// TestExactTimes: two ranks compute 1 and 3 ms in each of 40 iterations between barriers that end 1
// ms after the last entry: 4 ms per iteration, so useful is 40 and 120 of 160 ms.
func TestExactTimes(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("x.c:1").Init(0, 8)
		for k := range 40 {
			now := 8 + 4*float64(k)
			r.At("x.c:5").Collective("MPI_Barrier", now+1+2*float64(i), now+4)
		}
		r.At("x.c:9").Finalize(168, 200)
	})
	f := analyze(t, b)
	require.Len(t, f.Phases, 3, f.Text)
	l := f.Phases[1]
	assert.Equal(t, "initialization, 40 iterations of 1 calls (loop x.c:5–5), end", f.Text)
	assert.InDelta(t, 0.160, l.Computation, 1e-9)
	assert.InDelta(t, 0.160, l.MPI, 1e-9)
	assert.InDelta(t, 0.004, l.MedianIteration, 1e-6)
	assert.InDelta(t, 80.0/120, l.Efficiency.LoadBalance, 1e-9)
	assert.InDelta(t, 120.0/160, l.Efficiency.Communication, 1e-9)
	assert.Equal(t, 1, l.SlowestRank)
	// windows of 10 ms: the ninth, 80 to 90 ms, begins where an iteration does (8 + 4 × 18): 1+1+1
	// of rank 0, 3+3+2 of rank 1
	w := f.Windows[8]
	assert.InDelta(t, 0.08, w.StartSeconds, 1e-9)
	assert.InDelta(t, 5.5/8, w.Efficiency.LoadBalance, 1e-9)
	assert.InDelta(t, 0.8, w.Efficiency.Communication, 1e-9)
}

// TestDriftIsNamed: rank 2, and only that rank, gets slower by 20 % over the run.
func TestDriftIsNamed(t *testing.T) {
	f := analyze(t, tracetest.Stencil{Ranks: 6, Iterations: 1000, Work: noisy(2, func(rank, k int) float64 {
		if rank == 2 {
			return 1 + 0.2*float64(k)/1000
		}
		return 1
	})}.Build())
	require.Len(t, f.Phases, 3, f.Text)
	require.Len(t, f.Phases[1].Drifts, 1)
	d := f.Phases[1].Drifts[0]
	assert.Equal(t, 2, d.Rank)
	assert.InDelta(t, 100*0.2/1.1, d.ChangePercent, 2) // of the median, which is 1.1
	assert.InDelta(t, 5e-3*0.2/1000, d.SlopeSeconds, 1e-7)
	assert.Contains(t, d.Text, "Rank 2 gets slower")
}

// TestNoDriftWhereNone: over 50 seeds.
func TestNoDriftWhereNone(t *testing.T) {
	for seed := range uint64(50) {
		f := analyze(t, tracetest.Stencil{Ranks: 4, Iterations: 100, Work: noisy(seed, even)}.Build())
		for _, p := range f.Phases {
			assert.Empty(t, p.Drifts, "seed %d", seed)
			assert.Empty(t, p.Outliers, "seed %d", seed)
		}
	}
}

// TestOutlierIsNamed: rank 3 takes five times as long in iteration 71 (from 1).
func TestOutlierIsNamed(t *testing.T) {
	f := analyze(t, tracetest.Stencil{Ranks: 4, Iterations: 600, Work: noisy(3, func(rank, k int) float64 {
		if rank == 3 && k == 70 {
			return 5
		}
		return 1
	})}.Build())
	require.Len(t, f.Phases[1].Outliers, 1)
	o := f.Phases[1].Outliers[0]
	assert.Equal(t, 3, o.Rank)
	assert.Equal(t, uint64(71), o.Iteration)
	assert.InDelta(t, 0.025, o.Seconds, 0.002)
}

// TestWhatComesOftenIsNoOutlier: every fourth iteration takes five times as long, in short
// loops and long ones.
func TestWhatComesOftenIsNoOutlier(t *testing.T) {
	for _, iterations := range []int{100, 600} {
		f := analyze(t, tracetest.Stencil{Ranks: 4, Iterations: iterations, Work: noisy(3, func(_, k int) float64 {
			if k%4 == 0 {
				return 5
			}
			return 1
		})}.Build())
		assert.Empty(t, f.Phases[1].Outliers, "%d iterations", iterations)
	}
}

// TestCornersOfAGridShareTheirLoop: each of 2 x 2 ranks has two of four neighbors and calls for
// them at other lines. Ranks 0 and 3, and 1 and 2, have no call in common, but all four execute one
// loop of 30 iterations.
func TestCornersOfAGridShareTheirLoop(t *testing.T) {
	b := tracetest.New(4)
	b.Ranks(func(rank int, r *tracetest.Rank) {
		r.At("x.c:1").Init(0, 1)
		now := 1.0
		sides := []string{"west", "north"}
		if rank%2 == 0 {
			sides[0] = "east"
		}
		if rank/2 == 0 {
			sides[1] = "south"
		}
		for range 30 {
			for i, side := range sides {
				r.At(side+".c:10").Call("MPI_Comm_rank", now+1, now+2, nil)
				r.At(side+".c:11").Call("MPI_Comm_size", now+2, now+3+float64(i), nil)
				now += 3 + float64(i)
			}
		}
		r.At("x.c:3").Finalize(now, now+1)
	})
	f := analyze(t, b)
	require.Len(t, f.Phases, 3, f.Text)
	assert.Equal(t, 4, f.Phases[1].Ranks)
	assert.EqualValues(t, 30, f.Phases[1].Iterations)
	assert.InDelta(t, 4, f.Phases[1].CallsPerIteration, 1e-9)
	assert.InDelta(t, 7e-3, f.Phases[1].MedianIteration, 1e-9)
}

// TestTwoLoops: twenty time steps, a gather, and thirty of another loop.
func TestTwoLoops(t *testing.T) {
	b := tracetest.New(3)
	b.Ranks(func(_ int, r *tracetest.Rank) {
		now := 1.0
		step := func(site, name string) { r.At(site).Collective(name, now+1, now+2); now += 2 }
		r.At("x.c:1").Init(0, 1)
		for range 20 {
			step("x.c:10", "MPI_Allreduce")
			step("x.c:11", "MPI_Barrier")
		}
		step("x.c:20", "MPI_Gather")
		for range 30 {
			step("x.c:30", "MPI_Alltoall")
		}
		r.At("x.c:40").Finalize(now, now+1)
	})
	f := analyze(t, b)
	assert.Equal(t, "initialization, 20 iterations of 2 calls (loop x.c:10–11), between loops, 30 iterations of 1 calls (loop x.c:30–30), end", f.Text)
}

// TestNoLoops: a program without loops is one phase.
func TestNoLoops(t *testing.T) {
	b := tracetest.New(1)
	b.Rank(0).At("x.c:1").Init(0, 1).At("x.c:2").Collective("MPI_Barrier", 2, 3).At("x.c:3").Finalize(4, 5)
	assert.Equal(t, "whole run", analyze(t, b).Text)
	assert.Empty(t, analyze(t, tracetest.New(1)).Phases)
}

// TestAnchorIsACollective: a loop makes one MPI_Allreduce, and after it one MPI_Sendrecv. Both
// occur once per iteration on all ranks. The collective divides the run into iterations, although
// it is not the last call of the body. Expected: iterations end with the MPI_Allreduce, with 2 ms
// of computation before it and 1 ms before the message; the first one lacks the latter.
func TestAnchorIsACollective(t *testing.T) {
	for _, name := range []string{"MPI_Allreduce", "MPI_Barrier", "MPI_Ibarrier", "MPI_Bcast", "MPI_Neighbor_alltoall", "MPI_Win_fence"} {
		b := tracetest.New(2)
		b.Ranks(func(i int, r *tracetest.Rank) {
			r.At("x.c:1").Init(0, 1)
			for k := range 40 {
				now := 1 + 5*float64(k)
				r.At("x.c:5").Collective(name, now+2, now+3)
				r.At("x.c:6").Call("MPI_Sendrecv", now+4, now+5, tracetest.Args{
					"dest": 1 - i, "source": 1 - i, "status": tracetest.Status{Source: 1 - i, Bytes: 8},
				})
			}
			r.At("x.c:9").Finalize(210, 211)
		})
		p, err := phases.NewPlan(timeline.Of(b.Open(t)), nil)
		require.NoError(t, err)
		require.NoError(t, p.Follow(context.Background(), nil))
		samples := p.Samples()
		require.Len(t, samples, 2, name)
		for _, s := range samples {
			assert.Contains(t, s.Anchor, name)
			require.Len(t, s.Computation, 40, name)
			assert.InDelta(t, 0.002, s.Computation[0], 1e-6, name)
			assert.InDelta(t, 0.003, s.Computation[1], 1e-6, name)
		}
	}
}
