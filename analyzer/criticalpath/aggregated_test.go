package criticalpath_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyses/efficiency"
	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
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
	var b bytes.Buffer
	require.NoError(t, trace.Write(&b, c))
	r, err := trace.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	f, err := criticalpath.Analyze(context.Background(), timeline.Of(r), criticalpath.Options{})
	require.NoError(t, err)
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

// found analyzes a simulated run.
func found(t *testing.T, c simulate.Config) criticalpath.Findings {
	t.Helper()
	f, err := criticalpath.Analyze(t.Context(), timeline.Of(tracetest.Open(t, tracetest.Simulated(t, c))), criticalpath.Options{})
	require.NoError(t, err)
	return f
}

// For every pattern, sums give the same results as the times of single calls where they suffice:
// computation and MPI of each rank, load balance, communication and parallel efficiency, calls and
// time of each call site, and the slow rank. All else is null in the JSON.
func TestSumsGiveWhatTheySufficeFor(t *testing.T) {
	for _, pattern := range simulate.Names() {
		t.Run(pattern, func(t *testing.T) {
			c := simulate.Config{Pattern: pattern, Ranks: 16, Iterations: 40, RanksPerNode: 4, Imbalance: simulate.Imbalance{SlowRank: 6, SlowPercent: 100, Noise: 5}}
			full := found(t, c)
			c.Timing = "aggregated"
			f := found(t, c)
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
			if full.Verdict.Rank != nil {
				require.NotNil(t, f.Verdict.Rank, "%s\n%s", full.Verdict.Text, f.Verdict.Text)
				assert.Equal(t, *full.Verdict.Rank, *f.Verdict.Rank)
				assert.Nil(t, f.Verdict.GainSeconds)
				assert.Contains(t, f.Verdict.Text, "is not known")
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

// With sums no rank is blamed in runs that are balanced except for noise.
func TestSumsAccuseNobodyOfNoise(t *testing.T) {
	accused := 0
	const runs = 60
	for seed := range uint64(runs) {
		f := found(t, simulate.Config{Pattern: "stencil2d", Ranks: 9, Iterations: 30, Timing: "aggregated", Seed: seed, Imbalance: simulate.Imbalance{Noise: 20}})
		if f.Verdict.Rank != nil {
			accused++
		}
	}
	assert.LessOrEqual(t, accused, runs/20)
}

// One preemption is not work: rank 2 computes ten times as long in one iteration of thirty, which
// increases its sum by 30%, and no rank is blamed.
func TestSumsAccuseNobodyOfAPreemption(t *testing.T) {
	b := tracetest.Stencil{Ranks: 6, Iterations: 30, Work: func(rank, k int) float64 {
		if rank == 2 && k == 9 {
			return 20
		}
		return 2
	}}.Build()
	f, err := criticalpath.Analyze(t.Context(), timeline.Of(tracetest.Open(t, aggregated(b.Content()))), criticalpath.Options{})
	require.NoError(t, err)
	assert.Nil(t, f.Verdict.Rank, f.Verdict.Text)
}

// aggregated returns a trace of which only sums are kept.
func aggregated(c *trace.Content) *trace.Content {
	c.Meta.Timing = timing.Settings{Mode: timing.Aggregated}
	var threads []trace.Thread
	for i, thread := range c.Threads.All() {
		cursor, err := c.Cursor(thread.Rank, thread.Thread)
		if err != nil {
			panic(err)
		}
		statistics, now := map[int32]*timing.Aggregate{}, thread.FirstTick
		for cursor.Next() {
			e := cursor.Event()
			if statistics[e.Terminal] == nil {
				statistics[e.Terminal] = &timing.Aggregate{Terminal: e.Terminal}
			}
			statistics[e.Terminal].Durations.Add(e.ExitTicks - e.EnterTicks)
			statistics[e.Terminal].Gaps.Add(e.EnterTicks - now)
			thread.InsideTicks += e.ExitTicks - e.EnterTicks
			now = e.ExitTicks
		}
		thread.InsideTicks -= c.Threads.At(i).InsideTicks
		thread.Gaps, thread.Durations, thread.Timing = nil, nil, nil
		for _, terminal := range slices.Sorted(maps.Keys(statistics)) {
			thread.Aggregates = append(thread.Aggregates, *statistics[terminal])
		}
		threads = append(threads, thread)
	}
	c.Threads = trace.NewThreadTable(threads...)
	return c
}

// 0/0 is not an efficiency. Two ranks execute only MPI: mean and maximum computation are 0 of 0.3
// s, so load balance is unknown and the parallel efficiency is 0. For a trace without calls all are
// unknown.
func TestEfficiencyOfNothingIsNotKnown(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(_ int, r *tracetest.Rank) { r.Init(0, 100).Collective("MPI_Barrier", 100, 200).Finalize(200, 300) })
	e := analyze(t, b).Efficiency
	assert.Nil(t, e.LoadBalance)
	require.NotNil(t, e.Parallel)
	assert.Zero(t, *e.Parallel)
	assert.Zero(t, *e.Communication)
	assert.Equal(t, efficiency.Efficiency{}, analyze(t, tracetest.New(2)).Efficiency)
	f, err := criticalpath.Analyze(t.Context(), timeline.Of(tracetest.Open(t, aggregated(tracetest.New(2).Content()))), criticalpath.Options{})
	require.NoError(t, err)
	assert.Equal(t, efficiency.Efficiency{}, f.Efficiency)
}
