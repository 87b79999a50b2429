package criticalpath_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// Without the times of single calls there are sums, and nothing that would need more.
func TestAggregatedTimingGivesAProfileAndNoVerdict(t *testing.T) {
	var durations, gaps trace.IntervalStatistics
	for range 10 {
		durations.Add(1_000_000)
		gaps.Add(2_000_000)
	}
	c := &trace.Content{
		Meta:       trace.Meta{Final: true, WorldSize: 1, Timing: trace.TimingSettings{Mode: trace.TimingAggregated}},
		Functions:  []trace.Function{{ID: 3, Name: "MPI_Send", Class: "p2p"}},
		Signatures: []trace.Signature{{Function: 3, OwnRank: -1}},
		Grammar:    trace.Grammar{Rules: [][]trace.Symbol{{{Value: 0, Count: 10}}}},
		Ranks:      trace.NewRankTable(trace.Rank{Rank: 0, Clock: trace.Clock{Kind: "monotonic"}}),
		Threads: trace.NewThreadTable([]trace.Thread{{
			Calls: 10, FirstTick: 5, EndTick: 5 + 30_000_000, InsideTicks: 10_000_000,
			Aggregates: []trace.Aggregate{{Durations: durations, Gaps: gaps}},
		}}...),
	}
	var b bytes.Buffer
	require.NoError(t, trace.Write(&b, c))
	r, err := trace.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	f, err := criticalpath.Analyze(context.Background(), timeline.Of(r), criticalpath.Options{})
	require.NoError(t, err)
	require.Contains(t, f.Verdict.Text, "No verdict")
	require.Contains(t, f.Notes[0], "aggregated")
	require.Empty(t, f.Path.Segments)
	require.InDelta(t, 0.03, f.RunSeconds, 1e-9)
	require.InDelta(t, 0.01, f.Ranks[0].MPI, 1e-9)
	require.InDelta(t, 0.02, f.Ranks[0].Computation, 1e-9)
	require.Equal(t, "MPI_Send", f.Functions[0].Function)
	require.InDelta(t, 0.01, f.Functions[0].Seconds, 1e-9)
	require.EqualValues(t, 10, f.Functions[0].Calls)
	require.Equal(t, "aggregated", f.Timing.Mode)
}
