package compare_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/compare"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// run is a stencil whose ranks compute 5 ms ± 5 % in an iteration, slow factor times
// that (−1: none).
func run(t *testing.T, seed uint64, iterations, slow int, factor float64) timeline.Trace {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 4))
	return timeline.Of(tracetest.Stencil{Ranks: 4, Iterations: iterations, Reduce: 10, Work: func(rank, _ int) float64 {
		w := 5 * (0.95 + 0.1*random.Float64())
		if rank == slow {
			w *= factor
		}
		return w
	}}.Build().Open(t))
}

func compared(t *testing.T, a, b timeline.Trace) compare.Findings {
	t.Helper()
	return comparedSides(t, []timeline.Trace{a}, []timeline.Trace{b})
}

func comparedSides(t *testing.T, a, b []timeline.Trace) compare.Findings {
	t.Helper()
	f, err := compare.Compare(context.Background(), recordings(a), recordings(b))
	require.NoError(t, err)
	return f
}

func recordings(traces []timeline.Trace) []compare.Recording {
	list := make([]compare.Recording, len(traces))
	for i, t := range traces {
		list[i].Trace = t
	}
	return list
}

// TestSlowerRankIsNamed: rank 2 computes 10 % longer in B: 0.5 ms in each of 200
// iterations, 100 ms in all.
func TestSlowerRankIsNamed(t *testing.T) {
	f := compared(t, run(t, 1, 200, -1, 1), run(t, 2, 200, 2, 1.1))
	require.NotEmpty(t, f.Changes)
	c := f.Changes[0]
	assert.Equal(t, "computation", c.What)
	assert.Equal(t, 2, c.Rank)
	assert.Equal(t, "loop stencil.c:70–95", c.Phase)
	assert.InDelta(t, 10, c.Percent, 1)
	assert.InDelta(t, 0.5e-3, c.Shift, 0.05e-3)
	assert.InDelta(t, 0.1, c.Seconds, 0.01)
	assert.Less(t, c.PValue, 1e-9)
	for _, other := range f.Changes[1:] {
		assert.Equal(t, "mpi", other.What, "nobody else computes longer: %+v", other)
	}
	assert.Contains(t, f.Text, "Rank 2 computes ")
	assert.NotContains(t, f.Text, "Most of that", "the others wait for rank 2")
	assert.InDelta(t, f.Difference, f.Computation+f.MPI, 0.005, "all ranks begin and end together")
	assert.InDelta(t, 0.1/4, f.Computation, 0.005)
	// by place: the computation before the first receive
	found := false
	for _, p := range f.Activities {
		if p.What == "computation" && p.CallSite == "stencil.c:70" {
			found = true
			assert.Equal(t, 2, p.Rank)
			assert.InDelta(t, 0.1, p.RankDifference, 0.01)
		}
	}
	assert.True(t, found)
	var text bytes.Buffer
	require.NoError(t, f.WriteText(&text))
	assert.Contains(t, text.String(), "Rank 2 computes ")
	t.Log("\n" + text.String())
}

// TestFasterIsNotSlower: the other way round.
func TestFasterIsNotSlower(t *testing.T) {
	f := compared(t, run(t, 2, 200, 2, 1.1), run(t, 1, 200, -1, 1))
	require.NotEmpty(t, f.Changes)
	assert.InDelta(t, -9.1, f.Changes[0].Percent, 1)
	assert.Contains(t, f.Text, "Rank 2 computes ")
	assert.Contains(t, f.Text, "% less long in an iteration of loop stencil.c:70–95: ")
}

// TestAllChangesCount: the sentence counts also the changes that are beyond the list, and ranks
// rather than changes.
func TestAllChangesCount(t *testing.T) {
	all := func(seed uint64, factor float64) timeline.Trace {
		random := rand.New(rand.NewPCG(seed, 4))
		return timeline.Of(tracetest.Stencil{Ranks: 120, Iterations: 20, Work: func(int, int) float64 {
			return 5 * factor * (0.99 + 0.02*random.Float64())
		}}.Build().Open(t))
	}
	f := compared(t, all(1, 1), all(2, 1.5))
	assert.Len(t, f.Changes, 100)
	assert.Positive(t, f.Omitted)
	assert.Contains(t, f.Text, " 119 others became slower too.")

	slow := func(rank int, phase string) compare.Change {
		return compare.Change{Rank: rank, Phase: phase, What: "computation", Shift: 1, Seconds: 10, Percent: 20}
	}
	few := compare.Findings{Difference: 10, Tests: 8, Changes: []compare.Change{slow(3, "loop a"), slow(3, "loop b")}}
	assert.NotContains(t, few.Sentence(), "became slower too", "the same rank in two phases")
	few.Changes = append(few.Changes, slow(1, "loop a"))
	assert.Contains(t, few.Sentence(), " 1 other became slower too.")
}

// TestEqualRunsDoNotDiffer: over 50 seeds.
func TestEqualRunsDoNotDiffer(t *testing.T) {
	seeds := uint64(50)
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		f := compared(t, run(t, 100+2*seed, 100, -1, 1), run(t, 101+2*seed, 100, -1, 1))
		assert.Empty(t, f.Changes, "seed %d", seed)
		assert.Equal(t, 8, f.Tests)
		assert.Contains(t, f.Text, "No rank's iterations changed by more than they scatter within the runs")
		assert.NotContains(t, f.Text, "significant")
	}
}

// TestLongAndShort: of 1000 iterations four are put together, of 200 none: the shorter run's are
// put together too. The longer one takes longer for that, not for its slow rank.
func TestLongAndShort(t *testing.T) {
	f := compared(t, run(t, 1, 200, -1, 1), run(t, 2, 1000, 1, 1.1))
	require.NotEmpty(t, f.Changes)
	assert.Equal(t, 1, f.Changes[0].Rank)
	assert.Equal(t, uint64(4), f.Changes[0].Per)
	assert.InDelta(t, 10, f.Changes[0].Percent, 1)
	assert.Contains(t, f.Text, "Most of that: loop stencil.c:70–95 has 1000 iterations instead of 200.")
}

// TestAggregatedIsRefused: without times of single calls there is nothing to compare.
func TestAggregatedIsRefused(t *testing.T) {
	b := tracetest.New(1)
	b.Meta().Timing = timing.Settings{Mode: timing.Aggregated}
	content := b.Content()
	var file bytes.Buffer
	require.NoError(t, trace.Write(&file, content))
	r, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	require.NoError(t, err)
	_, err = compare.Compare(context.Background(), []compare.Recording{{Trace: timeline.Of(r)}}, []compare.Recording{{Trace: timeline.Of(r)}})
	assert.ErrorContains(t, err, "timing aggregated")
}
