package shards_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/simulate/shards"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
)

// sizeOf is the size of a job's trace but for what is not counted: times, call sites, metadata. The
// job is merged as its pods do it: shards first.
func sizeOf(t *testing.T, config simulate.Config) int64 {
	t.Helper()
	config.NoReplay, config.CallSites, config.Timing = true, "none", "aggregated"
	sim, err := simulate.New(config)
	require.NoError(t, err)
	var m merger.Merger
	perPod := sim.Config().RanksPerNode
	for pod := range (sim.Ranks() + perPod - 1) / perPod {
		shard, err := shards.Pod(sim, pod)
		require.NoError(t, err)
		require.NoError(t, m.Add(shard))
	}
	merged, err := m.Finish(merger.Options{Final: true})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, trace.Write(&b, merged[0]))
	reader, err := trace.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	s := reader.Sizes()
	return s.Container + s.Signatures + s.Grammar + s.RankMap + s.Values
}

// The trace of a stencil without times is below a kilobyte, however many ranks and iterations there
// are. The rows of make bench-trace go up to a million ranks and ten million iterations.
func TestStencilsHaveConstantSize(t *testing.T) {
	flat := simulate.Config{Pattern: "stencil2d"}
	round := simulate.Config{Pattern: "stencil3d", Periodic: true}
	for _, c := range []struct {
		base       simulate.Config
		ranks      []int
		iterations []int
	}{
		{flat, []int{9, 64, 256, 1024}, []int{10}},
		{flat, []int{9}, []int{10, 100, 1000, 10000}},
		{round, []int{27, 64, 512, 1000}, []int{10}},
		{round, []int{27}, []int{10, 100, 1000}},
	} {
		var first int64
		for _, ranks := range c.ranks {
			for _, iterations := range c.iterations {
				config := c.base
				config.Ranks, config.Iterations = ranks, iterations
				size := sizeOf(t, config)
				what := fmt.Sprintf("%s, %d ranks, %d iterations: %d bytes", config.Pattern, ranks, iterations, size)
				require.Less(t, size, int64(1024), what)
				if first == 0 {
					first = size
				}
				// longer numbers, and the shapes that a small grid has not got
				require.Less(t, size, first+160, what)
			}
		}
	}
}
