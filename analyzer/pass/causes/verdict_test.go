package causes_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// noisy returns a stencil on an oversubscribed machine: each iteration computes for 2 units ± 10 %,
// and one in five is preempted for up to 12 units, in bursts that hit some ranks more than others.
func noisy(ranks int, random *rand.Rand, factor func(rank int) float64) *tracetest.Builder {
	burst := make([]float64, ranks)
	return tracetest.Stencil{Ranks: ranks, Iterations: 100, Reduce: 10, PerNode: max(1, ranks/2), Work: func(rank, k int) float64 {
		if k%20 == 0 {
			burst[rank] = 0.4 * random.Float64()
		}
		w := 2 * (0.9 + 0.2*random.Float64()) * factor(rank)
		if random.Float64() < burst[rank] {
			w += 12 * random.Float64()
		}
		return w
	}}.Build()
}

// TestVerdictUnderNoise: in balanced runs under heavy noise hardly any verdict names a rank. A rank
// with twice the work is named in nearly all runs in which that costs at least 4%: the same run
// with the same noise would be that much shorter without it.
func TestVerdictUnderNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	sizes, runs := []int{4, 9, 16}, 40
	if testing.Short() {
		sizes, runs = []int{9}, 10
	}
	for _, ranks := range sizes {
		accused, matter, found, wrong := 0, 0, 0, 0
		for range runs {
			seed := random.Uint64()
			run := func(factor func(rank int) float64) findings {
				return find(t, noisy(ranks, rand.New(rand.NewPCG(seed, 3)), factor).Content())
			}
			balanced := run(func(int) float64 { return 1 })
			if balanced.Verdict.Rank != nil {
				accused++
			}
			slow := random.IntN(ranks)
			f := run(func(rank int) float64 {
				if rank == slow {
					return 2
				}
				return 1
			})
			v, matters := f.Verdict, balanced.RunSeconds <= 0.96*f.RunSeconds
			named := v.Rank
			if v.Blames == verdict.Imbalance { // noise may make it the first of a few
				named = new(v.Causes[0].Spread.MaxRank)
			}
			if matters {
				matter++
			}
			switch {
			case named != nil && (*named != slow || v.Blames == verdict.Excess && v.Ranks != fmt.Sprint(slow)):
				wrong++
				t.Logf("%d ranks, %d is slow: %s", ranks, slow, v.Text)
			case named != nil && matters:
				found++
			}
		}
		t.Logf("%d ranks: of %d balanced runs %d named a rank; of %d with a slow rank that matters %d named it; %d named another", ranks, runs, accused, matter, found, wrong)
		assert.LessOrEqual(t, accused, 1)
		assert.Greater(t, matter, runs/4)
		assert.GreaterOrEqual(t, found, matter*9/10)
		assert.Zero(t, wrong)
	}
}

// TestSlowNode: all ranks of the second node compute 1.6 times as long.
func TestSlowNode(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	v := judged(t, tracetest.Stencil{Ranks: 12, Iterations: 100, Reduce: 10, PerNode: 4, Work: func(rank, _ int) float64 {
		w := 2 * (0.95 + 0.1*random.Float64())
		if rank/4 == 1 {
			w *= 1.6
		}
		return w
	}}.Build())
	require.NotNil(t, v.Rank, v.Text)
	assert.Equal(t, "4-7", v.Ranks)
	assert.Equal(t, "node2", v.Causes[0].Node)
	assert.Equal(t, "node", v.Causes[0].Scope)
	assert.Contains(t, v.Text, "Node node2 makes this job slow: its ranks, 4-7, compute for ")
}

// TestSerialWork: rank 0 alone computes for 300 between two calls where the others compute for 1.
// All of that is on the path, and the run could be at most 299 shorter.
func TestSerialWork(t *testing.T) {
	b := tracetest.New(4)
	b.Ranks(func(i int, r *tracetest.Rank) {
		at := 11.0
		if i == 0 {
			at = 310
		}
		r.At("a.c:1").Init(0, 10).At("a.c:20").Rooted("MPI_Bcast", at, 312, 0).At("a.c:30").Finalize(400, 401)
	})
	v := judged(t, b)
	require.NotNil(t, v.Rank, v.Text)
	assert.Equal(t, 0, *v.Rank)
	c := v.Causes[0]
	assert.Equal(t, verdict.Call{Function: "MPI_Bcast", CallSite: "a.c:20"}, c.Before)
	assert.InDelta(t, 0.3, c.EachSeconds, 1e-9)
	assert.InDelta(t, 0.299, *v.GainSeconds, 1e-6)
}

// TestHarmlessRank: rank 2 computes twice as long as others, but in time in which it would
// otherwise wait for rank 0, whose MPI_Init takes long.
func TestHarmlessRank(t *testing.T) {
	b := tracetest.New(5)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, []float64{300, 10, 10, 10, 10}[i]).Collective("MPI_Barrier", []float64{392, 110, 210, 110, 110}[i], 395).Finalize(396, 401)
	})
	v := judged(t, b)
	assert.Nil(t, v.Rank, v.Text)
	assert.Contains(t, v.Text, "Rank 2 computes longer than the others, but that costs the run next to nothing.")
}

// TestFilesAreNoComputation: the same, but rank 0 writes a file from 100 to 390. Without that it
// would enter the barrier at 102; the last one to enter would be rank 2, 192 earlier than now.
func TestFilesAreNoComputation(t *testing.T) {
	b := tracetest.New(5)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 10)
		if i == 0 {
			r.Call("MPI_File_write", 100, 390, nil)
		}
		r.Collective("MPI_Barrier", []float64{392, 100, 200, 100, 100}[i], 395).Finalize(396, 401)
	})
	v := judged(t, b)
	assert.Equal(t, verdict.IO, v.Blames, v.Text)
	assert.Nil(t, v.Rank, v.Text)
	assert.InDelta(t, 0.192, *v.GainSeconds, 1e-9)
}

// TestOnePreemption: in a balanced run one rank is preempted for as long as 20 iterations take,
// once between two calls that occur once. Others were preempted for 12 at a time, so this is not
// attributed to a rank.
func TestOnePreemption(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	v := judged(t, tracetest.Stencil{Ranks: 4, Iterations: 100, Work: func(rank, k int) float64 {
		switch {
		case k == 0 && rank == 1: // after MPI_Init
			return 2 + 30
		case random.IntN(20) == 0:
			return 2 + 12
		}
		return 2
	}}.Build())
	assert.Nil(t, v.Rank, v.Text)
}

// throttled returns a run in which rank 2 is paused for 8 in every fifth of 210 iterations, like by
// a CPU limit, 336 in total. Its other iterations are as long as those of the others.
func throttled() *tracetest.Builder {
	random := rand.New(rand.NewPCG(7, 8))
	return tracetest.Stencil{Ranks: 8, Iterations: 210, Reduce: 7, Work: func(rank, k int) float64 {
		w := 2 * (0.95 + 0.1*random.Float64())
		if rank == 2 && k%5 == 0 {
			w += 8
		}
		return w
	}}.Build()
}

func TestThrottledRank(t *testing.T) {
	v := judged(t, throttled())
	require.NotNil(t, v.Rank, v.Text)
	assert.Equal(t, 2, *v.Rank)
	c := v.Causes[0]
	assert.Equal(t, verdict.Sometimes, c.Form)
	assert.Equal(t, []int{36, 180}, []int{c.Instances, c.Of}, "the other 6 of 30 come after an MPI_Allreduce")
	assert.InDelta(t, 0.010, c.EachSeconds, 0.0002)
	assert.InDelta(t, 0.002, *c.OthersSeconds, 0.0001)
}

// The same rank, of which the kernel counted that it waited for a CPU for those 336: that is why
// its computations, which are too short to be measured one by one, are long at times.
func TestLongWithoutACPU(t *testing.T) {
	for waited, form := range map[float64]verdict.Form{0: verdict.Sometimes, 336: verdict.Preempted} {
		b := throttled()
		b.Ranks(func(i int, r *tracetest.Rank) {
			const run = 900
			delayed := 1.0
			if i == 2 {
				delayed += waited
			}
			r.Info().Context = []trace.ContextSample{{}, {
				MonotonicNS: run * tracetest.Unit, CPUNS: int64((run - delayed) * tracetest.Unit), RunDelayNS: int64(delayed * tracetest.Unit),
			}}
		})
		v := judged(t, b)
		require.NotEmpty(t, v.Causes, v.Text)
		assert.Equal(t, form, v.Causes[0].Form, v.Text)
		assert.Equal(t, "2", v.Ranks, v.Text)
	}
}

// TestStartIsNotTheNetwork: MPI_Init takes 100 of 143. An ideal network would not change that: the
// time between Init and Finalize is 42, 40 of it computation.
func TestStartIsNotTheNetwork(t *testing.T) {
	b := tracetest.New(4)
	b.Ranks(func(_ int, r *tracetest.Rank) {
		r.At("x.c:1").Init(0, 100)
		now := 100.0
		for range 20 {
			r.At("x.c:2").Collective("MPI_Barrier", now+2, now+2.1)
			now += 2.1
		}
		r.At("x.c:3").Finalize(now, now+1)
	})
	v := judged(t, b)
	assert.Equal(t, verdict.Nobody, v.Blames, v.Text)
	assert.Contains(t, v.Text, "most of the rest, 71%, is the start and the end of MPI")
}

// TestThrottlingIsToldFromWork: with samples in which the container of the paused rank was
// throttled for about that time, the verdict reports throttling; not if all containers were, or for
// much less, or if it is not known.
func TestThrottlingIsToldFromWork(t *testing.T) {
	const unknown = -1
	samples := func(units float64) []trace.ContextSample {
		if units == unknown {
			return []trace.ContextSample{{ThrottledNS: -1}, {ThrottledNS: -1}}
		}
		const before = 5_000_000 // of the container, before the rank began
		return []trace.ContextSample{{ThrottledNS: before}, {ThrottledNS: before + int64(units*tracetest.Unit)}}
	}
	for name, c := range map[string]struct {
		own, others float64
		want        float64 // seconds
	}{
		"throttled":                   {330, 0, 0.330},
		"the others too, but less":    {330, 30, 0.300},
		"all alike: it computes more": {330, 330, 0},
		"a little: it computes more":  {30, 0, 0},
		"not known":                   {unknown, unknown, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := throttled()
			b.Ranks(func(i int, r *tracetest.Rank) {
				r.Info().Context = samples(c.others)
				if i == 2 {
					r.Info().Context = samples(c.own)
				}
			})
			v := judged(t, b)
			require.NotNil(t, v.Rank, v.Text)
			assert.Equal(t, 2, *v.Rank)
			assert.InDelta(t, c.want, v.Causes[0].StoppedSeconds, c.want/128+1e-4, v.Text)
			if c.want > 0 {
				assert.Contains(t, v.Text, "the CPU limit of its container stopped it for 3")
			} else {
				assert.NotContains(t, v.Text, "CPU limit")
			}
		})
	}
}
