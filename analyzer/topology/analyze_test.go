package topology_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/topology"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
)

func simulated(t *testing.T, config simulate.Config) timeline.Trace {
	t.Helper()
	s, err := simulate.New(config)
	require.NoError(t, err)
	contents, err := s.Contents()
	require.NoError(t, err)
	merged, err := merger.Merge(contents, merger.Options{Final: true})
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, trace.Write(&file, merged))
	r, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	require.NoError(t, err)
	return timeline.Of(r)
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
		f, err := topology.Analyze(context.Background(), simulated(t, c.config), topology.Options{})
		require.NoError(t, err)
		assert.Equal(t, c.want, f.Run.Topology, "%+v", c.config)
		if f.Run.Family != "" {
			assert.True(t, f.Run.Natural, c.want)
			assert.Len(t, f.Run.Places, c.config.Ranks)
			assert.Zero(t, f.Run.LostCalls)
		}
	}
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
