package budget

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func root(t *testing.T) *os.Root {
	t.Helper()
	r, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

func TestTakeStaysBelowTheLimit(t *testing.T) {
	const limit, piece, processes = 1 << 20, 1000, 7
	r := root(t)
	_, err := Make(r, limit)
	require.NoError(t, err)
	held := make([]int64, processes)
	var wait sync.WaitGroup
	for i := range processes {
		wait.Go(func() {
			b, err := Open(r.Name()) // each maps it by itself, as processes do
			if err != nil {
				t.Error(err)
				return
			}
			defer b.Close()
			for b.Take(piece, held[i], 0) {
				held[i] += piece
			}
		})
	}
	wait.Wait()
	all := int64(0)
	for _, h := range held {
		all += h
		require.Greater(t, h, int64(0))
	}
	require.LessOrEqual(t, all, int64(limit))
	require.Greater(t, all, int64(limit/2))
	b, err := Open(r.Name())
	require.NoError(t, err)
	require.Equal(t, all, b.used.Load(), "what was refused is not on the account")
	require.True(t, b.Take(piece, 0, 0), "one that comes later finds something")
	require.False(t, b.Take(limit, 0, 0))
	require.NoError(t, b.Close())
}

func TestWithoutAnAccount(t *testing.T) {
	b, err := Open(t.TempDir())
	require.NoError(t, err)
	require.Nil(t, b)
	require.True(t, b.Take(1<<60, 0, 0))
	b.Add(5)
	require.NoError(t, b.Close())
}

func TestMakeKeepsWhatIsOnTheAccount(t *testing.T) {
	r := root(t)
	old := unix.Umask(0o077)
	b, err := Make(r, 100)
	unix.Umask(old)
	require.NoError(t, err)
	info, err := r.Stat(File)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o666), info.Mode().Perm())
	require.True(t, b.Take(30, 0, 0))
	again, err := Make(r, 200)
	require.NoError(t, err)
	require.Equal(t, int64(200), b.Limit())
	require.Equal(t, int64(30), again.used.Load())
	names, err := filepath.Glob(filepath.Join(r.Name(), ".*"))
	require.NoError(t, err)
	require.Empty(t, names)
}

func TestMakeReplacesWhatIsNone(t *testing.T) {
	for what, put := range map[string]func(path string) error{
		"link":      func(path string) error { return os.Symlink("/etc/hostname", path) },
		"FIFO":      func(path string) error { return unix.Mkfifo(path, 0o666) },
		"directory": func(path string) error { return os.MkdirAll(filepath.Join(path, "x"), 0o755) },
		"short":     func(path string) error { return os.WriteFile(path, []byte("CAIRNBG1"), 0o644) },
		"rubbish":   func(path string) error { return os.WriteFile(path, make([]byte, 100), 0o644) },
	} {
		t.Run(what, func(t *testing.T) {
			r := root(t)
			require.NoError(t, put(filepath.Join(r.Name(), File)))
			_, err := Open(r.Name())
			require.Error(t, err)
			b, err := Make(r, 100)
			require.NoError(t, err)
			require.Equal(t, int64(100), b.Limit())
		})
	}
}

func TestAudit(t *testing.T) {
	b, err := Make(root(t), 1000)
	require.NoError(t, err)
	a := Auditor{Budget: b}
	measured := func(n int64) func() (int64, error) { return func() (int64, error) { return n, nil } }
	audit := func(n int64) int64 {
		t.Helper()
		_, err := a.Audit(measured(n))
		require.NoError(t, err)
		return b.used.Load()
	}
	require.Equal(t, int64(500), audit(500), "what is missing is added at once")
	require.Equal(t, int64(500), audit(400), "a process may be about to allocate it")
	require.Equal(t, int64(400), audit(400), "but it did not")
	b.Add(50)
	require.Equal(t, int64(450), audit(400))
	b.Add(-50) // it has given it back
	require.Equal(t, int64(400), audit(400))
	require.Equal(t, int64(400), audit(390), "that was another surplus")
	require.NoError(t, a.Removed(100))
	require.Equal(t, int64(300), audit(300))
	_, err = a.Audit(func() (int64, error) { return 0, errors.New("no") })
	require.Error(t, err)
}

// Truncating the file does not end the sidecar.
func TestFileThatBecomesShorter(t *testing.T) {
	r := root(t)
	b, err := Make(r, 1000)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(filepath.Join(r.Name(), File), 0))
	a := Auditor{Budget: b}
	_, err = a.Audit(func() (int64, error) { return 7, nil })
	require.ErrorContains(t, err, "damaged")
	require.ErrorContains(t, a.Removed(1), "damaged")
}
