//go:build mpi

package mpi

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// bufferFolder follows the link of a run's spool to the folder for buffers.
func bufferFolder(t *testing.T, out string) (folder string) {
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		folder, err = os.Readlink(filepath.Join(out, "tracer", "spool", "buffers"))
		return err == nil
	}, 20*time.Second, time.Millisecond)
	return folder
}

// A run removes its folder on the tmpfs at its end, also if it is interrupted. That of a run which
// was killed stays for a day, for `cairn finish`, and is removed by a later run, which leaves those
// of others.
func TestFolderForBuffers(t *testing.T) {
	binary := filepath.Join(shimtest.Root(), "bin", "cairn")
	for _, implementation := range shimtest.Implementations {
		ring := shimtest.Launch(implementation, 2, shimtest.Example(implementation, "ring"))
		begin := func(out string, command ...string) (*running, string) {
			r := start(t, append([]string{binary, "run", "-o", out, "--"}, command...)...)
			return r, bufferFolder(t, out)
		}
		living, folder := begin(filepath.Join(t.TempDir(), "living"), "sleep", "60")
		killed, left := begin(filepath.Join(t.TempDir(), "killed"), "sleep", "60")
		require.NoError(t, killed.cmd.Process.Kill())
		<-killed.ended
		require.DirExists(t, left)

		out := filepath.Join(t.TempDir(), "out")
		b, err := exec.Command(binary, append([]string{"run", "-o", out, "--"}, ring...)...).CombinedOutput()
		require.NoError(t, err, string(b))
		require.FileExists(t, filepath.Join(out, "trace.cairn"))
		require.DirExists(t, left)
		for _, path := range []string{left, folder} {
			yesterday := time.Now().Add(-25 * time.Hour)
			require.NoError(t, os.Chtimes(path, yesterday, yesterday))
		}
		b, err = exec.Command(binary, "run", "-o", filepath.Join(t.TempDir(), "later"), "--", "false").CombinedOutput()
		require.Error(t, err, string(b))
		require.NoDirExists(t, left)
		require.DirExists(t, folder)

		require.NoError(t, living.cmd.Process.Signal(syscall.SIGTERM))
		<-living.ended
		require.NoDirExists(t, folder)
	}
}
