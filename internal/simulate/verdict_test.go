package simulate_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
)

// judged merges and analyzes a simulation. change may modify a rank's metadata.
func judged(t *testing.T, c simulate.Config, change func(*trace.Rank)) analyzertest.Findings {
	t.Helper()
	c.RanksPerNode, c.Imbalance.Noise = 4, 4
	s, err := simulate.New(c)
	require.NoError(t, err)
	return judgedRun(t, s, change)
}

func judgedRun(t *testing.T, s *simulate.Simulation, change func(*trace.Rank)) analyzertest.Findings {
	t.Helper()
	contents, err := s.Contents()
	require.NoError(t, err)
	var m merger.Merger
	for _, content := range contents {
		if change != nil {
			content.Ranks.Change(0, change)
		}
		require.NoError(t, m.Add(content))
	}
	merged, err := m.Finish(merger.Options{Final: true})
	require.NoError(t, err)
	return analyzertest.Content(t, merged[0])
}

// structures are the communication structures of NPB LU, CG, MG, BT (packages wavefront, transpose,
// multigrid, multipartition), of a stencil and of a master with workers.
var structures = []simulate.Config{
	{Pattern: "wavefront", Ranks: 16, Iterations: 30, Compute: 2 * time.Millisecond},
	{Pattern: "transpose", Ranks: 16, Iterations: 60, Compute: 2 * time.Millisecond},
	{Pattern: "multigrid", Ranks: 16, Iterations: 40, Compute: 2 * time.Millisecond},
	{Pattern: "multipartition", Ranks: 16, Iterations: 40, Compute: 2 * time.Millisecond},
	{Pattern: "stencil2d", Ranks: 16, Iterations: 60, Compute: 2 * time.Millisecond},
	{Pattern: "master-worker", Ranks: 17, Iterations: 4, Compute: 2 * time.Millisecond},
}

// slowest returns the first cause of the kind excess. In a wavefront the first cause is that ranks
// wait for their turn, which costs more than half of the run.
func slowest(t *testing.T, pattern string, f analyzertest.Findings) verdict.Cause {
	t.Helper()
	first := 0
	if pattern == "wavefront" {
		assert.Equal(t, verdict.Serialization, f.Verdict.Blames, f.Verdict.Text)
		first = 1
	}
	require.Greater(t, len(f.Verdict.Causes), first, f.Verdict.Text)
	assert.Equal(t, verdict.Excess, f.Verdict.Causes[first].Kind, f.Verdict.Text)
	return f.Verdict.Causes[first]
}

// TestSlowRankIsNamedFirst: one rank computes 20 % longer: the verdict names it and the region in
// which it computes, and most of the waiting has its root cause there.
func TestSlowRankIsNamedFirst(t *testing.T) {
	for _, c := range structures {
		t.Run(c.Pattern, func(t *testing.T) {
			c.Imbalance.SlowRank, c.Imbalance.SlowPercent = 6, 20
			f := judged(t, c, nil)
			cause := slowest(t, c.Pattern, f)
			assert.Equal(t, "6", cause.Ranks, f.Verdict.Text)
			assert.True(t, strings.HasPrefix(cause.Before.CallSite, c.Pattern+".c:"), f.Verdict.Text)
			if c.Pattern == "master-worker" || c.Pattern == "wavefront" {
				// no rank waits for a worker, since the master takes results as they arrive; and in
				// a pipeline every rank waits longest for its first rank to begin
				return
			}
			require.NotEmpty(t, f.RootCauses.Delays)
			d := f.RootCauses.Delays[0]
			assert.Equal(t, 6, d.Rank)
			assert.Equal(t, accounts.Computation, d.Kind)
		})
	}
}

// TestWhereMoreIsLost: a slow rank is also named if the run loses more to something else, which
// then comes first: in a pipeline of 8 x 8 ranks, most wait for their turn; collectives of 20 ms
// cost a stencil more than a rank that computes 60 % longer. In the unchanged stencil the rank is
// the only cause.
func TestWhereMoreIsLost(t *testing.T) {
	slow := simulate.Imbalance{SlowRank: 6, SlowPercent: 60}
	for name, c := range map[string]struct {
		config simulate.Config
		first  verdict.Kind
	}{
		"pipeline": {simulate.Config{Pattern: "wavefront", Ranks: 64, Iterations: 10, Compute: 2 * time.Millisecond}, verdict.Serialization},
		"network":  {simulate.Config{Pattern: "stencil2d", Ranks: 16, Iterations: 60, Compute: 2 * time.Millisecond, Model: simulate.Model{Collective: 20_000_000}}, verdict.Collectives},
		"stencil":  {simulate.Config{Pattern: "stencil2d", Ranks: 16, Iterations: 60, Compute: 2 * time.Millisecond}, verdict.Excess},
	} {
		t.Run(name, func(t *testing.T) {
			c.config.Imbalance = slow
			f := judged(t, c.config, nil)
			assert.Equal(t, c.first, f.Verdict.Blames, f.Verdict.Text)
			i := slices.IndexFunc(f.Verdict.Causes, func(c verdict.Cause) bool { return c.Kind == verdict.Excess })
			require.GreaterOrEqual(t, i, 0, f.Verdict.Text)
			assert.Equal(t, "6", f.Verdict.Causes[i].Ranks, f.Verdict.Text)
			for k, cause := range f.Verdict.Causes[:i] {
				assert.Greater(t, *cause.GainSeconds, *f.Verdict.Causes[k+1].GainSeconds, f.Verdict.Text)
			}
		})
	}
}

// TestBalancedNamesNobody: the same without the slow rank.
func TestBalancedNamesNobody(t *testing.T) {
	for _, c := range structures {
		t.Run(c.Pattern, func(t *testing.T) {
			f := judged(t, c, nil)
			assert.Nil(t, f.Verdict.Rank, f.Verdict.Text)
			if c.Pattern == "wavefront" { // no rank is slow, and each waits for its turn
				assert.Equal(t, verdict.Serialization, f.Verdict.Blames, f.Verdict.Text)
				assert.Len(t, f.Verdict.Causes, 1, f.Verdict.Text)
				return
			}
			assert.Equal(t, verdict.Nobody, f.Verdict.Blames, f.Verdict.Text)
		})
	}
}

// TestSlowNetworkIsNamed: a latency of four milliseconds, too long to be hidden behind computation.
func TestSlowNetworkIsNamed(t *testing.T) {
	for _, c := range structures[:5] {
		t.Run(c.Pattern, func(t *testing.T) {
			c.Model.Latency, c.Model.Collective = 4_000_000, 8_000_000
			f := judged(t, c, nil)
			assert.Nil(t, f.Verdict.Rank, f.Verdict.Text)
			kind := verdict.Messages // most of them within a node, but for
			if c.Pattern == "multipartition" {
				kind = verdict.Network
			}
			assert.Equal(t, kind, f.Verdict.Blames, "%s %+v", f.Verdict.Text, f.Efficiency)
		})
	}
}

// TestTooFewCPUsAreNamed: the same slow messages, in a run of 10 s in which the kernel counted 4 s
// of CPU for the ranks, and a thousand preemptions: that, not the network, is named. It is not
// named if the ranks gave up the CPU themselves, or had it for 9 s. If they were stopped for 3 s by
// CPU limits, these come second, for 6 s first. If the kernel counts how long they waited for a
// CPU, that decides: 8 s of it, or 1 s, with which 4 s of sleep remain.
func TestTooFewCPUsAreNamed(t *testing.T) {
	const tenth = 29_700_000 // of the run, in ns
	for name, c := range map[string]struct {
		last  trace.ContextSample
		first verdict.Kind
		says  string
	}{
		"preempted":    {trace.ContextSample{CPUNS: 4 * tenth, InvoluntarySwitches: 1000}, verdict.CPUs, "Too few CPUs make this job slow"},
		"given away":   {trace.ContextSample{CPUNS: 4 * tenth, VoluntarySwitches: 1000}, verdict.Messages, ""},
		"nearly all":   {trace.ContextSample{CPUNS: 9 * tenth, InvoluntarySwitches: 1000}, verdict.Messages, ""},
		"two threads":  {trace.ContextSample{CPUNS: 18 * tenth, InvoluntarySwitches: 1000}, verdict.Messages, ""},
		"starved":      {trace.ContextSample{CPUNS: 2 * tenth, InvoluntarySwitches: 20, RunDelayNS: 8 * tenth}, verdict.CPUs, "Too few CPUs make this job slow"},
		"asleep":       {trace.ContextSample{CPUNS: 5 * tenth, InvoluntarySwitches: 1000, RunDelayNS: tenth / 2}, verdict.Messages, ""},
		"stopped":      {trace.ContextSample{CPUNS: 7 * tenth, ThrottledNS: 3 * tenth}, verdict.Messages, " Next: CPU limits ("},
		"stopped long": {trace.ContextSample{CPUNS: 4 * tenth, ThrottledNS: 6 * tenth}, verdict.CPUs, "CPU limits make this job slow"},
	} {
		t.Run(name, func(t *testing.T) {
			config := structures[4]
			config.Model.Latency, config.Model.Collective = 4_000_000, 8_000_000
			c.last.MonotonicNS = 10 * tenth
			f := judged(t, config, func(r *trace.Rank) { r.Context = []trace.ContextSample{{}, c.last} })
			assert.Nil(t, f.Verdict.Rank, f.Verdict.Text)
			assert.Equal(t, c.first, f.Verdict.Blames, f.Verdict.Text)
			assert.Contains(t, f.Verdict.Text, c.says)
			cpus := slices.ContainsFunc(f.Verdict.Causes, func(c verdict.Cause) bool { return c.Kind == verdict.CPUs })
			assert.Equal(t, c.says != "", cpus, f.Verdict.Text)
		})
	}
}

// TestSlowNodeIsNamed: all four ranks of node 2 compute 20 % longer.
func TestSlowNodeIsNamed(t *testing.T) {
	for _, c := range structures[:5] {
		t.Run(c.Pattern, func(t *testing.T) {
			c.Imbalance.SlowNode, c.Imbalance.SlowNodePercent = 2, 20
			f := judged(t, c, nil)
			cause := slowest(t, c.Pattern, f)
			assert.Equal(t, "8-11", cause.Ranks, f.Verdict.Text)
			assert.Equal(t, "node2", cause.Node)
			assert.Equal(t, "node", cause.Scope)
		})
	}
}

// TestThrottledPodIsNamed: the same, and the kernel counted that pod's container as
// stopped for as long.
func TestThrottledPodIsNamed(t *testing.T) {
	for _, c := range structures[:5] {
		t.Run(c.Pattern, func(t *testing.T) {
			c.Imbalance.SlowNode, c.Imbalance.SlowNodePercent = 2, 20
			f := judged(t, c, func(r *trace.Rank) {
				stopped := int64(0)
				if r.Rank/4 == 2 {
					stopped = int64(0.2 * float64(c.Compute) * float64(c.Iterations))
				}
				r.Context = []trace.ContextSample{{ThrottledNS: 0}, {ThrottledNS: stopped}}
			})
			cause := slowest(t, c.Pattern, f)
			assert.Equal(t, "8-11", cause.Ranks, f.Verdict.Text)
			assert.Equal(t, verdict.Stopped, cause.Form, f.Verdict.Text)
			assert.Positive(t, cause.StoppedSeconds, f.Verdict.Text)
			if c.Pattern != "wavefront" {
				assert.Contains(t, f.Verdict.Text, "the CPU limits of their containers stopped them")
			}
		})
	}
}
