package clusters_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/topology"
	"github.com/cairn-mpi/cairn/internal/simulate"
)

// BenchmarkClusters measures 16,384 ranks of a sweep over a 3-D grid, 27 shapes of grammar,
// from the compressed trace: groups by behavior, peers and timing, and by phase; the program
// text; the topology.
func BenchmarkClusters(b *testing.B) {
	r := timeline.Of(simulated(b, simulate.Config{
		Pattern: "wavefront", Ranks: 16384, Grid: []int{32, 32, 16}, Iterations: 20, Steps: 4, Bytes: 1024, CallSites: "caller", NoReplay: true,
	}))
	shapes := map[int]bool{}
	for _, thread := range r.Threads().All() {
		shapes[thread.Shape] = true
	}
	require.Len(b, shapes, 27)
	ctx := context.Background()
	measure := func(name string, run func() error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, run())
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/(1<<20), "MiB")
		})
	}
	measure("groups", func() error {
		f, err := clusters.Groups(ctx, r, clusters.Options{})
		require.Equal(b, 27, len(f.Clusters))
		return err
	})
	measure("program", func() error {
		_, err := program.Analyze(ctx, r, program.Options{Exact: true})
		return err
	})
	measure("topology", func() error {
		f, err := topology.Analyze(ctx, r, topology.Options{})
		require.Contains(b, f.Run.Topology, "32 x 32 x 16 grid")
		return err
	})
}
