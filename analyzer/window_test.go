package analyzer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/analyses"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/analyses/topology"
	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// within returns the findings about the critical path of a part of a run; milliseconds are the
// builder's units.
func within(t *testing.T, r *trace.Reader, from, to float64) analyzertest.Findings {
	t.Helper()
	m, err := analyzer.Clock(context.Background(), r)
	require.NoError(t, err)
	m, err = analyzer.Within(context.Background(), r, m, from/1000, to/1000)
	require.NoError(t, err)
	found, _, err := analyzer.Run(context.Background(), r, m, analyses.CriticalPath)
	require.NoError(t, err)
	return together(t, found)
}

// together returns the findings of all analyses of the critical path.
func together(t *testing.T, found map[string][]byte) (f analyzertest.Findings) {
	t.Helper()
	for name, raw := range found {
		require.NoError(t, json.Unmarshal(raw, &f), name)
	}
	return f
}

// Two messages, for each of which rank 0 waits. Times are in units; the run starts at 10:
//
//	rank 0: Init 0-5, Recv 10-31 (waits from 10 to 30), Recv 40-61 (waits to 60), Finalize 90-91
//	rank 1: Init 0-5, Send 30-31, Send 60-61, Finalize 90-91
//
// In the part from 20 to 50, rank 0 waits from 20 to 30 and from 40 to 50 (the second message is
// sent after the end of the part). It computes from 31 to 40, and from 30 to 31 the first message
// is transferred. Rank 1 computes from 20 to 30 and from 31 to 50. The path is on rank 1:
// computation until 30, its send (or the receive) until 31, and computation until 50.
func TestWithinAPartOfTheRun(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(10, 15).Recv(20, 41, 1, 8).Recv(50, 71, 1, 100).Finalize(100, 101)
	b.Rank(1).Init(10, 15).Send(40, 41, 0).Send(70, 71, 0).Finalize(100, 101)
	r := b.Open(t)
	f := within(t, r, 20, 50)
	assert.InDelta(t, 0.030, f.RunSeconds, 1e-9)
	assert.Equal(t, &run.Window{From: 0.02, To: 0.05}, f.Window)
	assert.InDelta(t, 0.030, f.Path.LengthSeconds, 1e-9)
	assert.InDelta(t, 0.020, *f.Ranks[0].Waiting, 1e-9)
	assert.InDelta(t, 0.009, f.Ranks[0].Computation, 1e-9)
	assert.InDelta(t, 0.021, f.Ranks[0].MPI, 1e-9)
	assert.InDelta(t, 0.029, f.Ranks[1].Computation, 1e-9)
	assert.EqualValues(t, 2, f.Ranks[0].Calls, "both receives are partly inside")
	assert.EqualValues(t, 1, f.Ranks[1].Calls)
	assert.Contains(t, f.Verdict.Text, "Between 0.02 s and 0.05 s of the run: ")
	require.Len(t, f.Profile.Matrix.Cells, 1)
	assert.EqualValues(t, 1, f.Profile.Matrix.Cells[0].Calls, "the second message is sent after it")
	for _, w := range f.WhatIf {
		assert.LessOrEqual(t, w.Seconds, 0.030, w.What)
	}
	// Before the messages: only computation and the start of the first wait.
	f = within(t, r, 0, 15)
	assert.InDelta(t, 0.015, f.RunSeconds, 1e-9)
	assert.InDelta(t, 0.005, *f.Ranks[0].Waiting, 1e-9)
	assert.InDelta(t, 0.010, f.Ranks[1].Computation, 1e-9)
	// An interval that contains the whole run.
	whole := within(t, r, 0, 1000)
	assert.InDelta(t, 0.091, whole.RunSeconds, 1e-9)
	assert.InDelta(t, 0.040, *whole.Ranks[0].Waiting, 1e-9)
}

// Adjacent parts add up to the whole, wherever the boundaries are.
func TestPartsAddUp(t *testing.T) {
	b := tracetest.New(3)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 2)
		for k := range 10 {
			at := float64(10*k + 5)
			r.Collective("MPI_Allreduce", at+float64((i+k)%3), at+3)
		}
		r.Finalize(110, 111)
	})
	r := b.Open(t)
	all, sums := within(t, r, 0, 111), analyzertest.Findings{}
	for from := 0.0; from < 111; from += 18.5 {
		f := within(t, r, from, from+18.5)
		assert.InDelta(t, 0.0185, f.Path.LengthSeconds, 1e-9)
		sums.RunSeconds += f.RunSeconds
		if sums.Ranks == nil {
			sums.Ranks = make([]ranks.RankTime, 3)
			for i := range sums.Ranks {
				sums.Ranks[i].Waiting = new(0.0)
			}
		}
		for i := range f.Ranks {
			sums.Ranks[i].Computation += f.Ranks[i].Computation
			sums.Ranks[i].MPI += f.Ranks[i].MPI
			*sums.Ranks[i].Waiting += *f.Ranks[i].Waiting
		}
	}
	assert.InDelta(t, all.RunSeconds, sums.RunSeconds, 1e-9)
	for i := range all.Ranks {
		assert.InDelta(t, all.Ranks[i].Computation, sums.Ranks[i].Computation, 1e-9)
		assert.InDelta(t, all.Ranks[i].MPI, sums.Ranks[i].MPI, 1e-9)
		assert.InDelta(t, *all.Ranks[i].Waiting, *sums.Ranks[i].Waiting, 1e-9)
	}
}

// Ranks communicate in a ring until 50, and each with all others after that. The topology and the
// matrix are those of the part.
func TestTopologyOfAPart(t *testing.T) {
	const n = 6
	b := tracetest.New(n)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 5).Send(10, 11, (i+1)%n).Recv(20, 21, (i+n-1)%n, 8)
		for k := 1; k < n; k++ {
			r.Send(50+float64(k), 50.5+float64(k), (i+k)%n)
		}
		for k := 1; k < n; k++ {
			r.Recv(60+float64(k), 60.5+float64(k), (i+n-k)%n, 8)
		}
		r.Finalize(100, 101)
	})
	r := b.Open(t)
	m, err := analyzer.Clock(context.Background(), r)
	require.NoError(t, err)
	shape := func(from, to float64) string {
		part, err := analyzer.Within(context.Background(), r, m, from/1000, to/1000)
		require.NoError(t, err)
		found, _, err := analyzer.Run(context.Background(), r, part, "topology")
		require.NoError(t, err)
		var f topology.Findings
		require.NoError(t, json.Unmarshal(found["topology"], &f))
		return f.Topology.Run.Topology
	}
	assert.Equal(t, "ring of 6", shape(0, 40))
	assert.Equal(t, "all-to-all of 6", shape(40, 100))
}

// A part that contains the whole run has the same findings as the run.
func TestAPartThatIsAll(t *testing.T) {
	for _, pattern := range []string{"stencil2d", "master-worker", "two-phase", "wavefront"} {
		r := tracetest.Open(t, tracetest.Simulated(t, simulate.Config{Pattern: pattern, Ranks: 9, Imbalance: simulate.Imbalance{Noise: 20, SlowRank: 3, SlowPercent: 40}}))
		findings, _, err := analyzer.Run(context.Background(), r, nil, analyses.CriticalPath)
		require.NoError(t, err)
		whole := together(t, findings)
		part := within(t, r, 0, 1e9)
		require.NotNil(t, part.Window)
		assert.Contains(t, part.Verdict.Text, whole.Verdict.Text)
		for name, pair := range map[string][2]any{
			"path": {whole.Path, part.Path}, "call sites": {whole.CallSites, part.CallSites}, "waits": {whole.WaitStates, part.WaitStates},
			"what if": {whole.WhatIf, part.WhatIf}, "efficiency": {whole.Efficiency, part.Efficiency}, "strips": {whole.Strips, part.Strips},
			"phases": {whole.Phases, part.Phases}, "matrix": {whole.Profile.Matrix, part.Profile.Matrix},
		} {
			assert.True(t, reflect.DeepEqual(pair[0], pair[1]), "%s: %s", pattern, name)
		}
	}
}

// difference returns where two findings differ by more than sums of terms in a different order do;
// "" if they do not.
func difference(a, b any, at string) string {
	switch a := a.(type) {
	case map[string]any:
		b, same := b.(map[string]any)
		if !same || len(a) != len(b) {
			return at
		}
		for k := range a {
			if d := difference(a[k], b[k], at+"."+k); d != "" {
				return d
			}
		}
	case []any:
		b, same := b.([]any)
		if !same || len(a) != len(b) {
			return at
		}
		for i := range a {
			if d := difference(a[i], b[i], fmt.Sprintf("%s[%d]", at, i)); d != "" {
				return d
			}
		}
	case float64:
		if b, same := b.(float64); !same || math.Abs(a-b) > 1e-12*max(1, math.Abs(a)) {
			return fmt.Sprintf("%s: %v and %v", at, a, b)
		}
	default:
		if a != b {
			return fmt.Sprintf("%s: %v and %v", at, a, b)
		}
	}
	return ""
}

// Only the calls of a part, and those around it up to the next quiescent points, are read. The
// findings are the same as with all calls read.
func TestAPartCostsWhatItHas(t *testing.T) {
	often := 0
	parts := [][2]float64{{0, 0.2}, {0.4, 0.6}, {0.45, 0.451}, {0.8, 2}}
	for n, pattern := range simulate.Names() {
		config := simulate.Config{Pattern: pattern, Ranks: 16, Iterations: 30, Reduce: 1, RanksPerNode: 8, Skew: []time.Duration{0, 3 * time.Millisecond}, Imbalance: simulate.Imbalance{Noise: 20, SlowRank: 3, SlowPercent: 40}}
		r := tracetest.Open(t, tracetest.Simulated(t, config))
		all, m, err := analyzer.Run(context.Background(), r, nil)
		require.NoError(t, err)
		require.NotEmpty(t, m.Cuts, "%s: nothing is under way after MPI_Init", pattern)
		if len(m.Cuts) >= config.Iterations {
			often++
		}
		whole := together(t, all)
		uncut := *m
		uncut.Cuts = nil
		for k, part := range parts {
			if testing.Short() && k != n%len(parts) { // one part of each program
				continue
			}
			from, to := part[0]*whole.RunSeconds, part[1]*whole.RunSeconds
			var findings [2]map[string][]byte
			var calls [2]int
			for i, of := range []*clock.Map{m, &uncut} {
				of, err := analyzer.Within(context.Background(), r, of, from, to)
				require.NoError(t, err)
				findings[i], _, err = analyzer.Run(context.Background(), r, of)
				require.NoError(t, err)
				require.NoError(t, timeline.Each(context.Background(), timeline.Of(r), of.Clocks, func(c *timeline.Call) error {
					if !c.Apart {
						calls[i]++
					}
					return nil
				}))
			}
			for name := range findings[0] {
				var cut, uncut any
				require.NoError(t, json.Unmarshal(findings[0][name], &cut))
				require.NoError(t, json.Unmarshal(findings[1][name], &uncut))
				assert.Empty(t, difference(uncut, cut, name), "%s, %v", pattern, part)
			}
			if part[1] < 1 && len(m.Cuts) >= config.Iterations {
				assert.Less(t, calls[0], calls[1]/2, "%s, %v", pattern, part)
			}
		}
	}
	assert.GreaterOrEqual(t, often, 2, "programs in which nothing is under way in each iteration")
}

func TestNoSuchPart(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(0, 5).Finalize(10, 11)
	b.Rank(1).Init(0, 5).Finalize(10, 11)
	r := b.Open(t)
	m, err := analyzer.Clock(context.Background(), r)
	require.NoError(t, err)
	_, err = analyzer.Within(context.Background(), r, m, 20, 30)
	assert.ErrorContains(t, err, "nothing happened from 20 s to 30 s: the run took 0.011 s")
	assert.Nil(t, m.Clocks.Window, "the map itself is left as it is")
}
