package shipper

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/shipper/spooltest"
)

// Ranks in PID namespaces of their own may all have one pid, and start at nearly the same time.
func TestDirectoriesOfRanksWithOnePID(t *testing.T) {
	spool := t.TempDir()
	const ranks = 4
	for rank := range ranks {
		p := spooltest.New("launch", rank, ranks)
		p.PID, p.Start = 1, 1_800_000_000_000_000_000+int64(rank)
		p.Init().Barrier().Finalize().Write(t, spool)
	}
	runs, problems, err := RunLocal(t.Context(), LocalOptions{Spool: spool, Out: t.TempDir()})
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Len(t, runs, 1)
	require.Len(t, runs[0].Processes, ranks)
	for rank, dir := range runs[0].Processes {
		p := spooltest.Process{Host: runs[0].Content.Ranks.At(rank).Host, PID: 1, Start: 1_800_000_000_000_000_000 + int64(rank)}
		assert.Equal(t, p.Directory(), filepath.Base(dir))
	}
}
