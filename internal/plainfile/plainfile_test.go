package plainfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestOnlyRegularFilesAndRealDirectories(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("file"), []byte("content"), 0o644))
	require.NoError(t, os.Mkdir(at("dir"), 0o755))
	require.NoError(t, os.Symlink("file", at("link")))
	require.NoError(t, os.Symlink("dir", at("dirlink")))
	require.NoError(t, os.Symlink("/etc/hostname", at("out")))
	require.NoError(t, unix.Mkfifo(at("fifo"), 0o644))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()

	b, err := Read(root, "file", 7)
	require.NoError(t, err)
	require.Equal(t, "content", string(b))
	_, err = Read(root, "file", 6)
	require.ErrorIs(t, err, ErrOdd)
	for name, what := range map[string]string{"link": "a symbolic link", "out": "a symbolic link", "fifo": "a FIFO", "dir": "a directory"} {
		_, err := Open(root, name)
		require.ErrorIs(t, err, ErrOdd, name)
		require.ErrorContains(t, err, what)
		_, err = OpenWritable(root, name)
		require.ErrorIs(t, err, ErrOdd, name)
	}
	_, err = Open(root, "../file")
	require.Error(t, err)
	_, err = Open(root, "none")
	require.ErrorIs(t, err, os.ErrNotExist)

	sub, err := Directory(root, "dir")
	require.NoError(t, err)
	require.NoError(t, sub.Close())
	for _, name := range []string{"dirlink", "file", "fifo"} {
		_, err := Directory(root, name)
		require.ErrorIs(t, err, ErrOdd, name)
	}
}
