package spool

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/observed"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// odd replaces a file by something that is no regular file.
var odd = map[string]func(t *testing.T, path, secret string){
	"link": func(t *testing.T, path, secret string) { require.NoError(t, os.Symlink(secret, path)) },
	"inner link": func(t *testing.T, path, _ string) {
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), "other"), []byte("SECRET"), 0o644))
		require.NoError(t, os.Symlink("other", path))
	},
	"FIFO":      func(t *testing.T, path, _ string) { require.NoError(t, unix.Mkfifo(path, 0o666)) },
	"device":    func(t *testing.T, path, _ string) { require.NoError(t, unix.Mknod(path, unix.S_IFCHR|0o666, 0x0105)) },
	"directory": func(t *testing.T, path, _ string) { require.NoError(t, os.Mkdir(path, 0o755)) },
	"huge": func(t *testing.T, path, _ string) {
		require.NoError(t, os.WriteFile(path, nil, 0o644))
		require.NoError(t, os.Truncate(path, 1<<40))
	},
}

// Whatever a process has put into its directory, a reader is neither led out of it nor blocked, and
// its errors quote nothing of what is there.
func TestOddFilesAreRefused(t *testing.T) {
	for _, name := range []string{processFile, lockFile, "ring-0.seg", "state-0", "tables-0", "times-0", record.DictionaryFile, observed.FileName, usageFile} {
		for what, put := range odd {
			t.Run(name+"/"+what, func(t *testing.T) {
				s := recordtest.NewShim(t)
				s.Process.BootID = ""
				s.RandomProgram(rand.New(rand.NewPCG(1, 2)), 200)
				w, dir := startSpool(t, s)
				w.play(s, nil)
				require.NoError(t, w.spool.checkpoint())
				secret := filepath.Join(t.TempDir(), "secretKey")
				require.NoError(t, os.WriteFile(secret, []byte("SECRET"), 0o600))
				require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
				put(t, filepath.Join(dir, name), secret)
				said := make(chan string, 1)
				go func() {
					_, aliveErr := isAlive(dir)
					_, report, err := Recover(dir)
					_, _, snapErr := snapshot(dir)
					var text strings.Builder
					for _, e := range []error{aliveErr, err, snapErr} {
						if e != nil {
							text.WriteString(e.Error() + "\n")
						}
					}
					if report != nil {
						text.WriteString(strings.Join(report.Notes, "\n"))
					}
					said <- text.String()
				}()
				select {
				case text := <-said:
					require.NotContains(t, text, "SECRET")
					// a lock is not read, and a dictionary as far as it has entries
					if what != "huge" || name != lockFile && name != record.DictionaryFile {
						require.Contains(t, text, name)
						require.Contains(t, text, "refused")
					}
				case <-time.After(20 * time.Second):
					t.Fatal("it waits")
				}
			})
		}
	}
}

func snapshot(dir string) (*trace.Content, *Report, error) {
	d, err := OpenPath(dir)
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	return d.Snapshot()
}

func isAlive(dir string) (bool, error) {
	d, err := OpenPath(dir)
	if err != nil {
		return false, err
	}
	defer d.Close()
	return d.Alive()
}

// An error about process.json quotes nothing of its content.
func TestErrorsOfProcessJSONSayNothingOfIt(t *testing.T) {
	for _, content := range []string{"topsecret", `{"pid":"topsecret"}`, `{"format":1,"constants":[{"kind":"topsecret","value":"topsecret"}]}`, `{"topsecret`} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, processFile), []byte(content), 0o644))
		d, err := OpenPath(dir)
		require.NoError(t, err)
		defer d.Close()
		_, err = d.Process()
		require.Error(t, err)
		for _, leak := range []string{"topsecret", "'o'", "'t'"} {
			require.NotContains(t, err.Error(), leak)
		}
	}
}

// A directory that cannot be read just now, for example without free descriptors, is not
// one without calls.
func TestDirectoryThatCannotBeRead(t *testing.T) {
	d, err := OpenPath(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, d.Close())
	_, err = d.buffers()
	require.Error(t, err)
}

// Files that are no buffers, as many as the application likes, take no descriptors.
func TestFilesThatAreNoBuffersAreClosed(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, size int64) {
		f, err := os.Create(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NoError(t, f.Truncate(size))
		require.NoError(t, f.Close())
	}
	put("0.seg", 8)
	put("1.seg", 1<<16)
	put("2.seg", maxBufferFile+1)
	put("ring-0.seg", 4096)
	put("ring-1.seg", 128*maxBufferFile)
	put("copies-0.seg", 12345)
	put("copies-1.seg", 0)
	d, err := OpenPath(dir)
	require.NoError(t, err)
	defer d.Close()
	opened := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(entries)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which closes what nobody refers to
	before := opened()
	for range 10 {
		files, err := d.listBuffers(reading{odd: func(error) {}})
		require.NoError(t, err)
		require.Empty(t, files)
	}
	require.Equal(t, before, opened())
}
