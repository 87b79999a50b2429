package localrun

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
)

// A folder that a run cannot be written to is refused with one line that says why and what to do,
// and nothing in it or beside it changes.
func TestRefusedFolders(t *testing.T) {
	long := strings.Repeat("x", 300)
	for name, test := range map[string]struct {
		make func(t *testing.T) // in the current folder
		out  string
		says string
	}{
		"file":              {func(t *testing.T) { put(t, "out", "mine") }, "out", "/out is a file"},
		"file above":        {func(t *testing.T) { put(t, "mine", "mine") }, "mine/a/out", "/mine is a file"},
		"dangling link":     {func(t *testing.T) { require.NoError(t, os.Symlink("nowhere", "out")) }, "out", "/out is a link to nowhere, which is not there"},
		"link to a file":    {func(t *testing.T) { put(t, "mine", "mine"); require.NoError(t, os.Symlink("mine", "out")) }, "out", "/out is a file"},
		"circle of links":   {func(t *testing.T) { require.NoError(t, os.Symlink("out", "out")) }, "out", "/out is a link to out"},
		"long name":         {nil, "new/a/" + long, "file name too long"},
		"not there":         {nil, "/proc/self/out", "/proc/self/out (no such file or directory)"},
		"not allowed":       {nil, "/sys/kernel", "/sys/kernel ("},
		"program tracer":    {func(t *testing.T) { put(t, "tracer", "mine") }, ".", "/tracer is not of a run (it is a file)"},
		"folder tracer":     {func(t *testing.T) { put(t, "tracer/ray.c", "mine"); put(t, "tracer/config.json", "mine") }, ".", "/tracer is not of a run (ray.c is in it)"},
		"libraries":         {func(t *testing.T) { put(t, "tracer/lib/ray.c", "mine") }, ".", "/tracer is not of a run (lib is in it)"},
		"report":            {func(t *testing.T) { put(t, "out/report", "mine") }, "out", "/report is not of a run (it is a file)"},
		"another run":       {func(t *testing.T) { hold(t, "out") }, "out", "another cairn run is writing to"},
		"another run above": {func(t *testing.T) { hold(t, "out"); require.NoError(t, os.Symlink("out", "link")) }, "link", "another cairn run is writing to"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if test.make != nil {
				test.make(t)
			}
			before := tree(t)
			for _, replace := range []bool{false, true} {
				_, err := newRunFolder(test.out, replace)
				require.True(t, cli.IsUsageError(err), "%v", err)
				require.ErrorContains(t, err, test.says)
				require.ErrorContains(t, err, ": name another folder with -o")
				assert.NotContains(t, err.Error(), "\n")
				assert.Equal(t, before, tree(t))
			}
		})
	}
}

// hold opens a folder as another run does.
func hold(t *testing.T, name string) {
	t.Helper()
	f, err := newRunFolder(name, false)
	require.NoError(t, err)
	t.Cleanup(f.Close)
}

// tree returns the content of the files below the current folder.
func tree(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.Walk(".", func(path string, info os.FileInfo, err error) error {
		content, _ := os.ReadFile(path)
		found[path] = info.Mode().String() + " " + string(content)
		return err
	}))
	return found
}

// Without -o the first folder is used in which nothing else is.
func TestDefaultFolderThatIsTaken(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "cairn-out", "mine")
	require.NoError(t, os.Symlink("nowhere", "cairn-out-2"))
	put(t, "cairn-out-3/tracer/ray.c", "mine")
	hold(t, "cairn-out-4")
	f, err := newRunFolder("", false)
	require.NoError(t, err)
	defer f.Close()
	assert.Equal(t, "cairn-out-5", filepath.Base(f.path))

	t.Chdir("/sys/kernel")
	_, err = newRunFolder("", false)
	require.ErrorContains(t, err, "/sys/kernel/cairn-out (")
}

// A run without a record leaves no folder that it made, and those that were there.
func TestFoldersAboveAreRemoved(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("a", 0o755))
	f, err := newRunFolder("a/b/c", false)
	require.NoError(t, err)
	f.leave()
	f.Close()
	assert.NoDirExists(t, "a/b")
	assert.DirExists(t, "a")
}
