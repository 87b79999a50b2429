package clusters_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

func analyze(t *testing.T, b *tracetest.Builder) clusters.Findings {
	t.Helper()
	f, err := clusters.Analyze(context.Background(), timeline.Of(b.Open(t)), clusters.Options{})
	require.NoError(t, err)
	return f
}

// TestMasterWorker: one master, seven workers with different numbers of tasks. Chameleon's K for
// this pattern is 2.
func TestMasterWorker(t *testing.T) {
	b := tracetest.New(8)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("mw.c:10").Init(0, 1)
		if i == 0 {
			for k := range 14 {
				r.At("mw.c:20").Recv(float64(2+k), float64(2+k)+0.5, 1+k%7, 8)
			}
		} else {
			for k := range i {
				r.At("mw.c:30").Send(float64(2+k), float64(2+k)+0.5, 0)
			}
		}
		r.At("mw.c:40").Finalize(30, 31)
	})
	f := analyze(t, b)
	require.Len(t, f.Clusters, 2)
	workers, master := f.Clusters[0], f.Clusters[1]
	assert.Equal(t, "1-7", workers.Ranks)
	assert.Equal(t, 7, workers.Size)
	assert.Equal(t, 1, workers.Lead)
	assert.Equal(t, 7, workers.VariantCount)
	assert.Equal(t, "0", master.Ranks)
	assert.Equal(t, "also calls MPI_Recv at mw.c:20; never calls MPI_Send at mw.c:30", master.Distinction)
	assert.Equal(t, 8, f.Sequences)
}

// TestLongLoopsStayCompressed: a loop of a million iterations is one hash, and another count is
// another sequence.
func TestLongLoopsStayCompressed(t *testing.T) {
	b := tracetest.New(3)
	counts := []int{1000, 1000, 1001}
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 1)
		for range counts[i] {
			r.Collective("MPI_Barrier", 2, 2)
		}
		r.Finalize(3, 4)
	})
	b.Meta().Final = true
	f := analyze(t, b)
	require.Len(t, f.Clusters, 1)
	assert.Equal(t, "0-2", f.Clusters[0].Ranks)
	assert.Equal(t, 2, f.Sequences)
}
