package spool

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// As if 4 GB of records came between two checkpoints, because none can be written: buffers are kept
// as files, not in memory, until the limit of the spool is reached. Then tracing stops, and the
// rest can be recovered with the reason.
func TestManyRecordsBetweenCheckpoints(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Process.BufferBytes = record.BufferHeaderBytes + 4096
	s.Process.BootID = ""
	s.Process.SpoolLimitBytes = 5 << 30
	s.RandomProgram(rand.New(rand.NewPCG(3, 3)), 3000)
	w, dir := startSpool(t, s)
	for _, name := range stateFiles { // no checkpoint can be written
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name, "in-the-way"), 0o755))
	}
	most := 0
	written := w.play(s, func(n int) {
		if n == 100 {
			// sparse accounting: the files would be there
			w.spool.raw, w.spool.diskBytes = 4<<30, 4<<30
		}
		if n == 2000 {
			w.spool.diskBytes = s.Process.SpoolLimitBytes - s.Process.BufferBytes
		}
		most = max(most, len(w.spool.mapped))
	})
	require.Error(t, w.spool.failure)
	require.Error(t, w.spool.stopped)
	require.Greater(t, written, 2000)
	require.Less(t, most, 20, "consumed buffers are not kept in memory")
	for _, name := range stateFiles {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
	}
	c, report, err := Recover(dir)
	require.NoError(t, err)
	require.Equal(t, uint64(written), report.Calls)
	require.Len(t, report.Notes, 1)
	require.Contains(t, report.Notes[0], "tracing stopped: ")
	require.Equal(t, report.Notes, c.Meta.Notes)
}
