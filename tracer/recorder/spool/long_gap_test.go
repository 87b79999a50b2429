package spool

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// No checkpoint can be written, so no buffer is used again: buffers are kept as files until the
// limit of the spool is reached. Then tracing stops, and the rest can be recovered with the reason.
func TestManyRecordsBetweenCheckpoints(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Process.BufferBytes = record.BufferHeaderBytes + 4096
	s.Process.BootID = ""
	s.Process.SpoolLimitBytes = 300_000
	s.RandomProgram(rand.New(rand.NewPCG(3, 3)), 3000)
	w, dir := startSpool(t, s)
	for _, name := range stateFiles { // no checkpoint can be written
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name, "in-the-way"), 0o755))
	}
	w.spool.raw = checkpointBytes
	written := w.play(s, nil)
	require.Error(t, w.spool.failure)
	require.ErrorIs(t, w.refused, unix.EDQUOT)
	require.Greater(t, written, 500)
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
