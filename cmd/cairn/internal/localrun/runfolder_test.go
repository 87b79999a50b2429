package localrun

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
)

// put writes a file, and creates its folders.
func put(t *testing.T, path, words string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(words), 0o644))
}

// The files of an earlier run make the next run refuse the folder, and --force replaces exactly
// these files.
func TestEarlierRun(t *testing.T) {
	for _, left := range []string{
		"trace.cairn", "clock.json", "report/index.html", "report/report.json", "run-0/trace.cairn", "run-11/report/summary.txt", "run-2-lmp.x/trace.cairn", "tracer/spool/host-1-2/process.json",
	} {
		t.Run(left, func(t *testing.T) {
			dir := t.TempDir()
			put(t, filepath.Join(dir, left), "old")
			users := []string{"input.dat", "report/notes.txt", "run-x/trace.cairn", "run-0/input.dat"}
			for _, name := range users {
				put(t, filepath.Join(dir, name), "mine")
			}
			_, err := newRunFolder(dir, false)
			require.True(t, cli.IsUsageError(err))
			require.ErrorContains(t, err, dir)
			require.ErrorContains(t, err, "--force")
			assert.FileExists(t, filepath.Join(dir, left))

			f, err := newRunFolder(dir, true)
			require.NoError(t, err)
			defer f.Close()
			assert.FileExists(t, filepath.Join(dir, left), "it is there until it is replaced")
			require.NoError(t, f.clear())
			assert.NoFileExists(t, filepath.Join(dir, left))
			assert.Empty(t, f.earlier())
			for _, name := range users {
				assert.FileExists(t, filepath.Join(dir, name))
			}
		})
	}
}

// A folder with other files, or of a run without a record, is not refused.
func TestFolderWithoutRun(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "report", "notes.txt"), "mine")
	put(t, filepath.Join(dir, "tracer", "spool", "symbols", "x.json"), "{}")
	f, err := newRunFolder(dir, false)
	require.NoError(t, err)
	f.Close()
}

// Two runs at the same time never write to the same folder.
func TestFolderOfRunThatGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	f, err := newRunFolder(dir, false)
	require.NoError(t, err)
	_, err = newRunFolder(dir, true)
	require.True(t, cli.IsUsageError(err))
	require.ErrorContains(t, err, "another cairn run")
	f.Close()
	f, err = newRunFolder(dir, false)
	require.NoError(t, err)
	f.Close()
}

// Without a name each run gets a folder of its own.
func TestDefaultFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, want := range []string{"cairn-out", "cairn-out-2", "cairn-out-3"} {
		f, err := newRunFolder("", false)
		require.NoError(t, err)
		defer f.Close()
		assert.Equal(t, want, filepath.Base(f.path))
		put(t, filepath.Join(f.path, "trace.cairn"), "x")
	}
}

// A run without a record leaves no files, so that it can be repeated.
func TestRunWithoutRecordsLeavesNoFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	f, err := newRunFolder(dir, false)
	require.NoError(t, err)
	put(t, filepath.Join(f.tracer(), "config.json"), "{}")
	f.leave()
	f.Close()
	assert.NoDirExists(t, dir)

	require.NoError(t, os.Mkdir(dir, 0o755)) // the user's own
	f, err = newRunFolder(dir, false)
	require.NoError(t, err)
	put(t, filepath.Join(f.spool(), "host-1-2", "process.json"), "{}")
	f.leave()
	f.Close()
	assert.DirExists(t, f.spool(), "something was recorded")
}

func TestBucketIsNoFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := newRunFolder("s3://bucket/run", false)
	require.True(t, cli.IsUsageError(err))
	require.ErrorContains(t, err, "cairn copy")
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Empty(t, entries)
}
