package compare_test

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/cairn-mpi/cairn/analyzer/compare"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// A spread describes how runs of a stencil of 4 ranks and 12 iterations of 5 ms vary randomly.
type spread struct {
	percent int     // of lossy timing; 0: lossless
	between float64 // standard deviation of a run's factor
	slow    float64 // how much longer rank 2 computes
}

func (s spread) run(t *testing.T, seed uint64) timeline.Trace {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 9))
	factor := 1 + s.between*random.NormFloat64()
	b := tracetest.Stencil{Ranks: 4, Iterations: 12, Reduce: 4, Work: func(rank, _ int) float64 {
		w := 5 * factor * (0.95 + 0.1*random.Float64())
		if rank == 2 {
			w *= 1 + s.slow
		}
		return w
	}}.Build()
	if s.percent > 0 {
		b.Lossy(s.percent)
	}
	return timeline.Of(b.Open(t))
}

// looked goes through many runs at once.
func (s spread) looked(t *testing.T, seeds []uint64) []compare.Looked {
	t.Helper()
	list := make([]compare.Looked, len(seeds))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, seed := range seeds {
		trace := s.run(t, seed)
		group.Go(func() (err error) {
			list[i], err = compare.Look(t.Context(), compare.Recording{Trace: trace})
			return err
		})
	}
	require.NoError(t, group.Wait())
	return list
}

// from are n seeds from first on.
func from(first uint64, n int) (seeds []uint64) {
	for i := range uint64(n) {
		seeds = append(seeds, first+i)
	}
	return seeds
}

// saysTheyDiffer reports whether findings of several runs per side report a difference.
func saysTheyDiffer(f *compare.Findings) bool {
	return len(f.Changes) > 0 || strings.Contains(f.Text, "more than equal runs differ") && !strings.Contains(f.Text, "no more than equal runs differ")
}

// Equal runs, each of which is slower or faster as a whole by 5 % (one standard deviation), as on a
// busy machine. With one run per side all iterations differ: that is not reported as more than
// chance. With several runs per side at most 5 % of the pairs are reported as different.
func TestEqualRunsWithASpreadBetweenThem(t *testing.T) {
	const most = 10
	pairs := 200
	if testing.Short() {
		pairs = 20
	}
	for name, percent := range map[string]int{"lossless": 0, "lossy": 5} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := map[int]int{}
			claims := 0
			for pair := range uint64(pairs) {
				runs := spread{percent: percent, between: 0.05}.looked(t, from(1000*(pair+1), 2*most))
				a, b := runs[:most], runs[most:]
				for _, n := range []int{1, 3, 5, 10} {
					f, err := compare.Differences(a[:n], b[:n])
					require.NoError(t, err)
					assert.NotContains(t, f.Text, "significant")
					if n == 1 {
						assert.Contains(t, f.Text, "How far apart two equal runs are on this machine cannot be known")
						assert.Nil(t, f.PValue)
						assert.Nil(t, f.A.Deviation)
						claims += min(1, len(f.Changes))
					} else if saysTheyDiffer(&f) {
						wrong[n]++
					}
				}
			}
			for _, n := range []int{3, 5, 10} {
				assert.LessOrEqual(t, wrong[n], pairs*5/100, "%d runs a side", n)
			}
			t.Logf("of %d pairs of equal runs said to differ: %v; iterations of one run a side differ in %d", pairs, wrong, claims)
		})
	}
}

// A rank that computes 10 % longer is found in five runs per side, though whole runs vary by 5 %:
// the other ranks of each run show how slow that run was.
func TestSlowerRankIsFoundInSeveralRuns(t *testing.T) {
	pairs := 100
	if testing.Short() {
		pairs = 20
	}
	for name, percent := range map[string]int{"lossless": 0, "lossy": 5} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, others := 0, 0
			for pair := range uint64(pairs) {
				a := spread{percent: percent, between: 0.05}.looked(t, from(1000*(pair+1), 5))
				b := spread{percent: percent, between: 0.05, slow: 0.1}.looked(t, from(1000*(pair+1)+500, 5))
				f, err := compare.Differences(a, b)
				require.NoError(t, err)
				for _, c := range f.Changes {
					if c.What == "computation" && c.Rank == 2 {
						assert.InDelta(t, 10, c.Percent, 8)
						found++
					} else if c.What == "computation" {
						others++
					}
				}
				if len(f.Changes) > 0 && f.Changes[0].Rank == 2 {
					assert.Contains(t, f.Text, "Rank 2 computes ")
				}
			}
			t.Logf("found in %d of %d, other ranks in %d", found, pairs, others)
			assert.GreaterOrEqual(t, found, pairs*95/100)
			assert.LessOrEqual(t, others, pairs*5/100)
		})
	}
}

// Five of each, 10 % slower as a whole, with a variation of 1 %: the headline says so; it also says
// what is too small to be detected with such runs.
func TestSlowerRunsDiffer(t *testing.T) {
	s := spread{between: 0.01}
	a := s.looked(t, from(1, 5))
	var b []compare.Looked
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 10))
		factor := 1.1 * (1 + 0.01*random.NormFloat64())
		trace := timeline.Of(tracetest.Stencil{Ranks: 4, Iterations: 30, Reduce: 10, Work: func(int, int) float64 {
			return 5 * factor * (0.95 + 0.1*random.Float64())
		}}.Build().Open(t))
		one, err := compare.Look(t.Context(), compare.Recording{Trace: trace})
		require.NoError(t, err)
		b = append(b, one)
	}
	f, err := compare.Differences(a, b)
	require.NoError(t, err)
	assert.Contains(t, f.Text, ": more than equal runs differ (p = ")
	assert.Contains(t, f.Text, "5 and 5 runs as far apart as these show differences of the run time from ")
	require.NotNil(t, f.PValue)
	assert.Less(t, *f.PValue, 0.025)
	require.NotNil(t, f.A.Deviation)
	assert.Equal(t, 5, f.B.Runs)
	require.NotNil(t, f.Detectable)
	assert.Less(t, *f.Detectable, 5.0)
	assert.NotContains(t, f.Text, "cannot be known")
}

// Equal values of simulated or rounded runs do not show that there is no variation: three times the
// same run is no difference, nor is one bin of rounded times.
func TestEqualValuesAreNoProof(t *testing.T) {
	same := spread{between: 0}.looked(t, []uint64{1, 1, 1, 1, 1, 1})
	f, err := compare.Differences(same[:3], same[3:])
	require.NoError(t, err)
	assert.False(t, saysTheyDiffer(&f), f.Text)
	require.NotNil(t, f.PValue)
	assert.Equal(t, 1.0, *f.PValue)
	assert.Empty(t, f.Changes)
}

// steady is a run in which each rank computes for exactly so long in each iteration.
func steady(t *testing.T, work float64, percent int) timeline.Trace {
	t.Helper()
	b := tracetest.Stencil{Ranks: 4, Iterations: 30, Reduce: 10, Work: func(int, int) float64 { return work }}.Build()
	return timeline.Of(b.Lossy(percent).Open(t))
}

// Times within 5 %: values are on a grid of 5 % steps, of which every second one is used if sums
// allow it. 5.00 and 5.05 ms are 1 % apart, and whatever bins they fall into, no difference is
// reported; nor is one for 5.00 and 5.24 ms, which bins do not always distinguish. 5.00 and 6.00
// differ.
func TestOneBinIsNoDifference(t *testing.T) {
	for work := 5.0; work < 5.5; work += 0.02 {
		for _, other := range []float64{1.01, 1.05} {
			f := compared(t, steady(t, work, 5), steady(t, work*other, 5))
			assert.Empty(t, f.Changes, "%.2f ms and %g times that", work, other)
		}
		f := compared(t, steady(t, work, 5), steady(t, work*1.25, 5))
		ranks := map[int]bool{}
		for _, c := range f.Changes {
			if c.What == "computation" {
				ranks[c.Rank] = true
			}
		}
		assert.Len(t, ranks, 4, "%.2f ms", work)
	}
}
