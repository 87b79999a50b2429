package trace_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
)

func TestLosses(t *testing.T) {
	const limit = "the spool limit of 1048576 bytes is reached"
	ranks := trace.NewRankTable(
		trace.Rank{Rank: 0, Dropped: 70, EndedEarly: trace.TracingStopped + "MPI_Send: " + limit},
		trace.Rank{Rank: 1, Dropped: 30, EndedEarly: trace.TracingStopped + "MPI_Recv: " + limit},
		trace.Rank{Rank: 2, Dropped: 20, EndedEarly: trace.EndedUntraced + "MPI_Recv: " + limit},
		trace.Rank{Rank: 3, Dropped: 500, EndedEarly: trace.TracingStopped + "MPI_Recv"},
		trace.Rank{Rank: 4, Dropped: 1},
		trace.Rank{Rank: 5, EndedEarly: "killed in MPI_Recv"},
	)
	require.Equal(t, []trace.Loss{
		{Calls: 500, Ranks: trace.NewRankList([]int{3}), Why: "tracing stopped"},
		{Calls: 120, Ranks: trace.NewRankList([]int{0, 1, 2}), Why: "the spool limit of 1048576 bytes was reached"},
		{Calls: 1, Ranks: trace.NewRankList([]int{4}), Why: "the tracer had no room for them, or was interrupted by a signal handler"},
	}, ranks.Losses())
	var stopped []int
	for _, r := range ranks.All() {
		if r.TracingStopped() {
			stopped = append(stopped, r.Rank)
		}
	}
	require.Equal(t, []int{0, 1, 3}, stopped, "rank 2 is known to have ended early")
	whole := trace.NewRankTable(trace.Rank{})
	require.Empty(t, whole.Losses())
}
