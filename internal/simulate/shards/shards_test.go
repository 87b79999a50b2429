package shards_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/simulate/shards"
	"github.com/cairn-mpi/cairn/merger/collect"
	"github.com/cairn-mpi/cairn/store"
)

// A simulated job can be merged like a real one: all ranks, all calls.
func TestUploadedJobMerges(t *testing.T) {
	sim, err := simulate.New(simulate.Config{Pattern: "two-phase", Ranks: 24, RanksPerNode: 5})
	require.NoError(t, err)
	s, err := store.Open(t.TempDir(), store.S3Options{})
	require.NoError(t, err)
	written, err := shards.Upload(t.Context(), s, sim, nil)
	require.NoError(t, err)
	require.Equal(t, 5, written.Shards)
	result, err := collect.Merge(t.Context(), s, collect.Options{Pods: 5})
	require.NoError(t, err)
	require.Empty(t, result.Problems)
	require.Len(t, result.Runs, 1)
	require.Equal(t, 24, result.Runs[0].Ranks)
	require.Empty(t, result.Runs[0].MissingRanks)
	require.Equal(t, written.Calls, result.Runs[0].Calls)
}
