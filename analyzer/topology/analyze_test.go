package topology_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/topology"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

func simulated(t testing.TB, config simulate.Config) timeline.Trace {
	t.Helper()
	return timeline.Of(tracetest.Open(t, tracetest.Simulated(t, config)))
}

func TestTopologyOfPrograms(t *testing.T) {
	for _, c := range []struct {
		config simulate.Config
		want   string
	}{
		{simulate.Config{Pattern: "stencil2d", Ranks: 12, Grid: []int{3, 4}}, "3 x 4 grid"},
		{simulate.Config{Pattern: "stencil2d", Ranks: 20, Grid: []int{4, 5}, Periodic: true}, "4 x 5 torus"},
		{simulate.Config{Pattern: "stencil2d", Ranks: 20, Grid: []int{4, 5}, Points: 9}, "4 x 5 9-point stencil"},
		{simulate.Config{Pattern: "stencil3d", Ranks: 60, Grid: []int{3, 4, 5}, Periodic: true}, "3 x 4 x 5 torus"},
		{simulate.Config{Pattern: "stencil3d", Ranks: 60, Grid: []int{3, 4, 5}, Points: 27}, "3 x 4 x 5 27-point stencil"},
		{simulate.Config{Pattern: "ring", Ranks: 7}, "ring of 7"},
		{simulate.Config{Pattern: "pairwise", Ranks: 8}, "all-to-all of 8"},
		{simulate.Config{Pattern: "master-worker", Ranks: 9}, "master-worker, 8 workers"},
		{simulate.Config{Pattern: "butterfly", Ranks: 32}, "hypercube of dimension 5"},
		{simulate.Config{Pattern: "tree", Ranks: 32}, "binomial tree of 32"},
		{simulate.Config{Pattern: "transpose", Ranks: 16}, "NAS CG stencil on 4 x 4"},
		{simulate.Config{Pattern: "wavefront", Ranks: 12, Grid: []int{3, 4}}, "3 x 4 grid"},
		{simulate.Config{Pattern: "all-to-all", Ranks: 8}, "no messages"},
	} {
		run := simulated(t, c.config)
		f, err := topology.Analyze(context.Background(), run, topology.Options{})
		require.NoError(t, err)
		assert.Equal(t, c.want, f.Run.Topology, "%+v", c.config)
		if f.Run.Family != "" {
			assert.True(t, f.Run.Natural, c.want)
			assert.Len(t, f.Run.Places, c.config.Ranks)
			assert.Zero(t, f.Run.LostCalls)
			assert.ElementsMatch(t, talking(t, run), f.Run.Edges(), "%s: what is drawn is who talks to whom", c.want)
		}
	}
}

// talking are the pairs of ranks with messages, in either direction.
func talking(t *testing.T, run timeline.Trace) [][2]int {
	traffic, err := run.Matrix()
	require.NoError(t, err)
	var pairs [][2]int
	for _, one := range traffic {
		if pair := [2]int{min(one.Source, one.Dest), max(one.Source, one.Dest)}; pair[0] != pair[1] && !slices.Contains(pairs, pair) {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

func TestPatternsOfCommunicators(t *testing.T) {
	f, err := topology.Analyze(context.Background(), simulated(t, simulate.Config{Pattern: "two-phase", Ranks: 16}), topology.Options{})
	require.NoError(t, err)
	require.NotEmpty(t, f.Communicators)
	for _, c := range f.Communicators {
		assert.NotEqual(t, "irregular", c.Topology)
		assert.Positive(t, c.Communicators)
	}
}
