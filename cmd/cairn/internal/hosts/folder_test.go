package hosts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracerroot"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// madeRun makes the folder of a run on this host, in a folder for temporary files of its own.
func madeRun(t *testing.T) (*Run, folder) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	run := &Run{ID: "job-1", Out: filepath.Join(dir, "out"), Size: unknown, Local: unknown}
	f, err := makeFolder(run)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(ofUser(dir), run.name()), string(f))
	writeRun(t, f, run)
	return run, f
}

func writeRun(t *testing.T, f folder, run *Run) {
	t.Helper()
	raw, err := json.Marshal(run)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(f.path(runFile), raw, 0o600))
}

func found(run *Run) []folder {
	return foldersOf(func(r *Run) bool { return r.Out == run.Out })
}

// What is in a folder of another user, or in one that others may look into, is no run, and nothing
// is written there.
func TestFolderOfSomebodyElse(t *testing.T) {
	run, f := madeRun(t)
	require.Equal(t, []folder{f}, found(run))
	own := filepath.Dir(string(f))
	refused := func() {
		require.Empty(t, found(run))
		elsewhere, err := makeFolder(run)
		require.NoError(t, err)
		require.NotEqual(t, f, elsewhere)
		require.NoError(t, os.Remove(string(elsewhere)))
	}
	for _, mode := range []os.FileMode{0o701, 0o710, 0o722, 0o755} {
		require.NoError(t, os.Chmod(own, mode))
		refused()
	}
	require.NoError(t, os.Chmod(own, 0o700))
	require.Equal(t, []folder{f}, found(run))
	require.NoError(t, os.Rename(own, own+"-behind"))
	require.NoError(t, os.Symlink(own+"-behind", own))
	refused()
	require.NoError(t, os.Remove(own))
	require.NoError(t, os.Rename(own+"-behind", own))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(own, 65534, 65534))
		refused()
	}
}

// Where hosts share the folder for temporary files, each has its own folder of a run.
func TestFolderOfAnotherHost(t *testing.T) {
	run, f := madeRun(t)
	other := folder(filepath.Join(filepath.Dir(string(f)), digest(run.ID, run.Out, "another-host")))
	require.NoError(t, os.Mkdir(string(other), 0o755))
	writeRun(t, other, run)
	require.Equal(t, []folder{f}, found(run))
}

// Only a folder for buffers is removed with a spool, and a part is no link.
func TestLinksInAFolder(t *testing.T) {
	_, f := madeRun(t)
	precious := t.TempDir()
	file := filepath.Join(precious, "key")
	require.NoError(t, os.WriteFile(file, []byte("secret"), 0o600))
	require.NoError(t, os.Mkdir(f.spool(), 0o755))
	require.NoError(t, os.Symlink(precious, filepath.Join(f.spool(), spool.TmpfsLink)))
	require.NoError(t, f.removeSpool())
	require.NoDirExists(t, f.spool())
	require.FileExists(t, file)

	require.NoError(t, os.Symlink(file, f.path(packedPrefix+"host")))
	_, err := f.openPacked("host")
	require.Error(t, err)

	require.NoError(t, os.Mkdir(f.spool(), 0o755))
	buffers, err := os.MkdirTemp("/dev/shm", "cairn-buffers-")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(buffers, filepath.Join(f.spool(), spool.TmpfsLink)))
	tracerroot.RemoveBuffers(f.spool())
	require.NoDirExists(t, buffers)
}
