package accounts_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Without the times of single calls there are sums, and no findings that need more.
func TestAggregatedTimingGivesAProfileAndNoVerdict(t *testing.T) {
	var durations, gaps timing.IntervalStatistics
	for range 10 {
		durations.Add(1_000_000)
		gaps.Add(2_000_000)
	}
	c := &trace.Content{
		Meta:       trace.Meta{Final: true, WorldSize: 1, Timing: timing.Settings{Mode: timing.Aggregated}},
		Functions:  []trace.Function{{ID: 3, Name: "MPI_Send", Class: "p2p"}},
		Signatures: []trace.Signature{{Function: 3, OwnRank: -1}},
		Grammar:    grammar.Grammar{Rules: [][]grammar.Symbol{{{Value: 0, Count: 10}}}},
		Ranks:      trace.NewRankTable(trace.Rank{Rank: 0, Clock: timing.Clock{Kind: "monotonic"}}),
		Threads: trace.NewThreadTable([]trace.Thread{{
			Calls: 10, FirstTick: 5, EndTick: 5 + 30_000_000, InsideTicks: 10_000_000,
			Aggregates: []timing.Aggregate{{Durations: durations, Gaps: gaps}},
		}}...),
	}
	f := analyzertest.Content(t, c)
	require.Contains(t, f.Verdict.Text, "No verdict")
	require.Contains(t, f.Notes[0], "aggregated")
	require.Nil(t, f.Path)
	require.InDelta(t, 0.03, f.RunSeconds, 1e-9)
	require.InDelta(t, 0.01, f.Ranks[0].MPI, 1e-9)
	require.InDelta(t, 0.02, f.Ranks[0].Computation, 1e-9)
	require.Equal(t, "computation", f.Functions[0].Function)
	require.InDelta(t, 0.02, f.Functions[0].Seconds, 1e-9)
	require.Equal(t, "MPI_Send", f.Functions[1].Function)
	require.InDelta(t, 0.01, f.Functions[1].Seconds, 1e-9)
	require.EqualValues(t, 10, f.Functions[1].Calls)
	require.Equal(t, "aggregated", f.Timing.Mode)
}

// For every pattern, sums give the same results as the times of single calls where they suffice:
// computation and MPI of each rank, load balance, communication and parallel efficiency, calls and
// time of each call site. All else is null in the JSON.
func TestSumsGiveWhatTheySufficeFor(t *testing.T) {
	for _, pattern := range simulate.Names() {
		t.Run(pattern, func(t *testing.T) {
			c := simulate.Config{Pattern: pattern, Ranks: 16, Iterations: 10, RanksPerNode: 4, Imbalance: simulate.Imbalance{SlowRank: 6, SlowPercent: 100, Noise: 5}}
			full := analyzertest.Content(t, tracetest.Simulated(t, c))
			c.Timing = "aggregated"
			f := analyzertest.Content(t, tracetest.Simulated(t, c))
			assert.InDelta(t, full.RunSeconds, f.RunSeconds, 1e-9)
			for name, values := range map[string][2]*float64{
				"load balance": {full.Efficiency.LoadBalance, f.Efficiency.LoadBalance}, "parallel": {full.Efficiency.Parallel, f.Efficiency.Parallel},
				"communication": {full.Efficiency.Communication, f.Efficiency.Communication},
				"mean":          {full.Efficiency.MeanUseful, f.Efficiency.MeanUseful}, "max": {full.Efficiency.MaxUseful, f.Efficiency.MaxUseful},
			} {
				require.NotNil(t, values[1], name)
				assert.InDelta(t, *values[0], *values[1], 1e-6, name)
			}
			for i := range full.Ranks {
				assert.InDelta(t, full.Ranks[i].Computation, f.Ranks[i].Computation, 1e-6)
				assert.InDelta(t, full.Ranks[i].MPI, f.Ranks[i].MPI, 1e-6)
				assert.InDelta(t, full.Ranks[i].Initialization, f.Ranks[i].Initialization, 1e-6)
				assert.Equal(t, full.Ranks[i].Calls, f.Ranks[i].Calls)
			}
			require.Len(t, f.CallSites, len(full.CallSites))
			type at struct{ function, site string }
			seconds := map[at]float64{}
			for _, s := range full.CallSites {
				seconds[at{s.Function, s.CallSite}] = s.Seconds
			}
			for _, s := range f.CallSites {
				assert.InDelta(t, seconds[at{s.Function, s.CallSite}], s.Seconds, 1e-6, s.CallSite)
			}
			before, sums := map[verdict.Call]float64{}, map[verdict.Call]float64{}
			for _, r := range full.Computation {
				before[r.Before] += r.Seconds
			}
			for _, r := range f.Computation {
				sums[r.Before] += r.Seconds
			}
			for place, s := range before {
				assert.InDelta(t, s, sums[place], 1e-6, "%v", place)
			}

			raw, err := json.Marshal(f)
			require.NoError(t, err)
			var object map[string]any
			require.NoError(t, json.Unmarshal(raw, &object))
			for _, key := range []string{"critical_path", "wait_states", "waits", "root_causes", "what_if", "strips", "phases", "profile"} {
				assert.Contains(t, object, key)
				assert.Nil(t, object[key], key)
			}
			for _, key := range []string{"serialization", "transfer", "ideal_seconds"} {
				assert.Nil(t, object["efficiency"].(map[string]any)[key], key)
			}
			for _, key := range []string{"waiting_seconds", "caused_waiting_seconds", "path_seconds", "path_share", "slack_seconds", "delay_cost_seconds"} {
				value, there := object["ranks"].([]any)[0].(map[string]any)[key]
				assert.True(t, there, key)
				assert.Nil(t, value, key)
			}
		})
	}
}
