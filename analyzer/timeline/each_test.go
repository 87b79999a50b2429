package timeline_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// seen is the part of a call that a test compares.
type seen struct {
	enter    int64
	location int
	index    uint64
	text     string
}

func see(c *timeline.Call) seen { return seen{c.Enter, c.Location, c.Index, c.Event.Text()} }

// Of each thread the calls between Begin and End are read, and one more on either side: also of a
// thread that ended before its last call, and of one that began after its first.
func TestCallsAroundAWindow(t *testing.T) {
	b := tracetest.New(3)
	b.Rank(0).Init(0, 5).Collective("MPI_Barrier", 10, 11).Finalize(20, 21)
	b.Rank(1).Init(0, 5).Collective("MPI_Barrier", 10, 51).Collective("MPI_Barrier", 60, 61).Collective("MPI_Barrier", 70, 71).Finalize(90, 91)
	b.Rank(2).Init(85, 86).Finalize(90, 91)
	tr := timeline.Of(b.Open(t))
	const unit = tracetest.Unit
	clocks := &timeline.Clocks{Of: []int{0, 0, 0}, Domains: make([]timeline.Clock, 1), Window: &timeline.Window{From: 55 * unit, To: 65 * unit, Begin: 52 * unit, End: 80 * unit}}
	type told struct {
		location int
		index    uint64
		apart    bool
	}
	var ordered, each []told
	require.NoError(t, timeline.Each(context.Background(), tr, clocks, func(c *timeline.Call) error {
		ordered = append(ordered, told{c.Location, c.Index, c.Apart})
		return nil
	}))
	for i, l := range timeline.Locations(tr) {
		require.NoError(t, timeline.EachOf(context.Background(), tr, i, l, clocks, func(c *timeline.Call) error {
			each = append(each, told{c.Location, c.Index, c.Apart})
			return nil
		}))
	}
	assert.Equal(t, []told{{0, 2, true}, {1, 1, true}, {1, 2, false}, {1, 3, false}, {1, 4, true}, {2, 0, true}}, each)
	assert.ElementsMatch(t, each, ordered)
}

// TestEachIsEachOfInOrder: the calls of all threads, complete and across many batches, are those of
// each thread in the order of their times, then of locations. The program uses wildcards, so that a
// cursor overwrites values with each call.
func TestEachIsEachOfInOrder(t *testing.T) {
	trace := timeline.Of(tracetest.Open(t, tracetest.Simulated(t, simulate.Config{Pattern: "master-worker", Ranks: 5, Iterations: 400})))
	var expected, got []seen
	for i, l := range timeline.Locations(trace) {
		require.NoError(t, timeline.EachOf(context.Background(), trace, i, l, nil, func(c *timeline.Call) error {
			expected = append(expected, see(c))
			return nil
		}))
	}
	slices.SortStableFunc(expected, func(a, b seen) int {
		switch {
		case a.enter != b.enter:
			return int(a.enter - b.enter)
		default:
			return a.location - b.location
		}
	})
	require.NoError(t, timeline.Each(context.Background(), trace, nil, func(c *timeline.Call) error {
		got = append(got, see(c))
		return nil
	}))
	require.Greater(t, len(got), 2000, "several batches of each thread")
	assert.Equal(t, expected, got)
}
