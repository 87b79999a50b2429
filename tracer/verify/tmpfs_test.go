//go:build mpi

package verify

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/tracer/budget"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A program whose calls fill all buffers that are used again, and further ones. Then it ends, waits
// for its standard input to end, or is killed.
const filling = `
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
	static char a[100], b[100];
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 60000; i++)
		MPI_Sendrecv(a, i % 97, MPI_CHAR, 0, i % 30000, b, 100, MPI_CHAR, 0, i % 30000, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	if (!strcmp(argv[1], "wait")) {
		printf("filled\n");
		fflush(stdout);
		getchar();
	} else if (!strcmp(argv[1], "die"))
		raise(SIGKILL);
	MPI_Finalize();
	return 0;
}
`

const (
	filled    = 60000   // calls of the program beside MPI_Init and MPI_Finalize
	ringBytes = 8 << 20 // of buffers that are used again
)

func fillingPrograms(t *testing.T) map[string]string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "filling.c")
	require.NoError(t, os.WriteFile(source, []byte(filling), 0o644))
	return shimtest.CompileForAll(t, source)
}

// mountTmpfs mounts a tmpfs of this size.
func mountTmpfs(t *testing.T, bytes int) string {
	t.Helper()
	folder := t.TempDir()
	if err := unix.Mount("cairn-test", folder, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Skipf("a tmpfs cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, unix.Unmount(folder, unix.MNT_DETACH)) })
	return folder
}

// linked has the processes of a tracer put their buffers into a folder, if they may.
func linked(t *testing.T, tracer *shimtest.Tracer, folder string) {
	t.Helper()
	require.NoError(t, os.Symlink(folder, filepath.Join(tracer.Dir, "spool", spool.TmpfsLink)))
}

// bytesBelow returns what the files in a folder's folders that match a pattern take, without holes.
func bytesBelow(t *testing.T, folder, pattern string) (bytes int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*", pattern))
	require.NoError(t, err)
	for _, name := range names {
		info, err := os.Stat(name)
		require.NoError(t, err)
		bytes += 512 * info.Sys().(*syscall.Stat_t).Blocks
	}
	return bytes
}

// The buffers that are used again are on the tmpfs as far as it has room and limits of memory
// leave a margin, and in the spool otherwise. No call is lost.
func TestBuffersOnTmpfs(t *testing.T) {
	t.Parallel()
	programs := fillingPrograms(t)
	all := func(t *testing.T, bytes int64) { require.Equal(t, int64(ringBytes), bytes) }
	none := func(t *testing.T, bytes int64) { require.Zero(t, bytes) }
	upTo := func(most int64) func(*testing.T, int64) {
		return func(t *testing.T, bytes int64) {
			require.LessOrEqual(t, bytes, most)
			require.Greater(t, bytes, most-500<<10)
		}
	}
	for name, c := range map[string]struct {
		folder func(t *testing.T) string
		limit  uint64 // of the process's memory cgroup; 0: none
		expect func(t *testing.T, bytes int64)
	}{
		"tmpfs":        {func(t *testing.T) string { return mountTmpfs(t, 4*ringBytes) }, 0, all},
		"small":        {func(t *testing.T) string { return mountTmpfs(t, ringBytes) }, 0, upTo(ringBytes / 2)},
		"no tmpfs":     {func(t *testing.T) string { return "/proc" }, 0, none},
		"missing":      {func(t *testing.T) string { return "/nowhere" }, 0, none},
		"roomy cgroup": {func(t *testing.T) string { return mountTmpfs(t, 4*ringBytes) }, 1 << 30, all},
		"tight cgroup": {func(t *testing.T) string { return mountTmpfs(t, 4*ringBytes) }, 200 << 20, upTo(4 << 20)},
	} {
		for _, implementation := range shimtest.Implementations {
			t.Run(name+"/"+implementation, func(t *testing.T) {
				tracer := shimtest.NewTracer(t, map[string]any{"call_sites": "none"})
				folder := c.folder(t)
				linked(t, tracer, folder)
				tracer.Alone = true
				for i, end := range []string{"end", "die"} {
					command := []string{programs[implementation], end}
					if c.limit > 0 {
						command = newCgroup(t, c.limit).command(command...)
					}
					r := tracer.Run(t, command...)
					require.Equal(t, map[string]string{"end": "", "die": "killed"}[end], r.Signal, r.Stderr)
					if !strings.HasPrefix(name, "no ") && name != "missing" {
						c.expect(t, bytesBelow(t, folder, "*.seg"))
					}
					directory := tracer.Processes(t)[0]
					require.Equal(t, int64(ringBytes), bytesBelow(t, folder, "*.seg")+bytesBelow(t, filepath.Dir(directory), "ring-*.seg"))
					_, report, err := spool.Recover(directory)
					require.NoError(t, err)
					require.EqualValues(t, filled+2-i, report.Calls)
					require.Zero(t, report.Lost)
					root, err := os.OpenRoot(filepath.Dir(directory))
					require.NoError(t, err)
					require.NoError(t, spool.RemoveFromTmpfs(root, filepath.Base(directory)))
					require.NoError(t, root.Close())
					require.NoError(t, os.RemoveAll(directory))
				}
			})
		}
	}
}

// What is on the tmpfs does not count in the spool's budget. A link of somebody else is not
// followed, by no side.
func TestTmpfsIsNotInTheBudget(t *testing.T) {
	t.Parallel()
	programs := fillingPrograms(t)
	for _, implementation := range shimtest.Implementations {
		for _, foreign := range []bool{false, true} {
			tracer := shimtest.NewTracer(t, map[string]any{"call_sites": "none", "shared_spool": true})
			folder := mountTmpfs(t, 4*ringBytes)
			linked(t, tracer, folder)
			root, err := os.OpenRoot(filepath.Join(tracer.Dir, "spool"))
			require.NoError(t, err)
			defer root.Close()
			if foreign {
				require.NoError(t, root.Lchown(spool.TmpfsLink, 1234, 1234))
			}
			account, err := budget.Make(root, 1<<30)
			require.NoError(t, err)
			tracer.Alone = true
			r := tracer.Run(t, programs[implementation], "end")
			require.Equal(t, 0, r.Code, r.Stderr)
			directory := tracer.Processes(t)[0]
			_, report, err := spool.Recover(directory)
			require.NoError(t, err)
			require.EqualValues(t, filled+2, report.Calls)
			buffers := bytesBelow(t, filepath.Dir(directory), "*.seg")
			require.Equal(t, foreign, bytesBelow(t, folder, "*") == 0)
			require.Equal(t, foreign, bytesBelow(t, filepath.Dir(directory), "ring-*.seg") > 0)
			require.Positive(t, buffers)
			b, err := root.ReadFile("budget")
			require.NoError(t, err)
			require.InDelta(t, buffers, int64(binary.NativeEndian.Uint64(b[16:])), 1<<20)
			require.NoError(t, account.Close())
		}
	}
}

// A waiting is a process that has filled its buffers and waits.
type waiting struct {
	cmd   *exec.Cmd
	stdin io.Closer
}

func startWaiting(t *testing.T, tracer *shimtest.Tracer, command ...string) waiting {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(append(os.Environ(), shimtest.Oversubscribed...), "LD_PRELOAD="+tracer.Preload())
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() }) // after a failure
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "filled\n", line)
	return waiting{cmd, stdin}
}

func (w waiting) end(t *testing.T) {
	t.Helper()
	require.NoError(t, w.stdin.Close())
	require.NoError(t, w.cmd.Wait())
}

// A process that goes on is read as well, and the spool can be kept without the tmpfs.
func TestSnapshotOfTmpfs(t *testing.T) {
	t.Parallel()
	programs := fillingPrograms(t)
	for _, implementation := range shimtest.Implementations {
		tracer := shimtest.NewTracer(t, map[string]any{"call_sites": "none"})
		folder := mountTmpfs(t, 4*ringBytes)
		linked(t, tracer, folder)
		w := startWaiting(t, tracer, programs[implementation], "wait")
		directory := tracer.Processes(t)[0]
		d, err := spool.OpenPath(directory)
		require.NoError(t, err)
		defer d.Close()
		_, report, err := d.Snapshot()
		require.NoError(t, err)
		require.EqualValues(t, filled+1, report.Calls)
		w.end(t)
		require.NoError(t, spool.SaveFromTmpfs(filepath.Dir(directory)))
		require.NoError(t, os.RemoveAll(filepath.Join(folder, filepath.Base(directory))))
		_, report, err = spool.Recover(directory)
		require.NoError(t, err)
		require.EqualValues(t, filled+2, report.Calls)
		require.Zero(t, report.Lost)
	}
}

// The pages of the buffers are charged to the cgroup of the rank, which makes the files, and not to
// that of a reader such as the sidecar. They are freed when the reader removes the files.
func TestWhoPaysForTmpfs(t *testing.T) {
	t.Parallel()
	rank, reader := newCgroup(t, 1<<30), newCgroup(t, 1<<30)
	for _, implementation := range shimtest.Implementations {
		tracer := shimtest.NewTracer(t, map[string]any{"call_sites": "none"})
		folder := mountTmpfs(t, 4*ringBytes)
		linked(t, tracer, folder)
		run := func(script string) {
			b, err := exec.Command("sh", reader.command("sh", "-c", script)[1:]...).CombinedOutput()
			require.NoError(t, err, string(b))
		}
		// the reader does pay for what it writes itself
		run("head -c 4194304 /dev/zero > " + folder + "/own")
		require.EqualValues(t, 4<<20, reader.sharedMemory(t))
		run("rm " + folder + "/own")

		before := rank.sharedMemory(t)
		w := startWaiting(t, tracer, rank.command(programFor(t, implementation), "wait")...)
		require.GreaterOrEqual(t, rank.sharedMemory(t), before+ringBytes)
		run("cat " + folder + "/*/*.seg | wc -c")
		require.Zero(t, reader.sharedMemory(t))
		require.GreaterOrEqual(t, rank.sharedMemory(t), before+ringBytes)
		w.end(t)
		require.GreaterOrEqual(t, rank.sharedMemory(t), before+ringBytes, "also after its end")
		run("rm -r " + folder + "/*")
		require.Less(t, rank.sharedMemory(t), before+ringBytes/2)
	}
}

func programFor(t *testing.T, implementation string) string {
	t.Helper()
	return fillingPrograms(t)[implementation]
}

// A cgroup is a memory cgroup of a test.
type cgroup struct{ path string }

// newCgroup makes a memory cgroup with a limit, of version 1 or 2.
func newCgroup(t *testing.T, limit uint64) cgroup {
	t.Helper()
	parent, file := "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
	if controllers, err := os.ReadFile("/sys/fs/cgroup/cgroup.subtree_control"); err == nil && strings.Contains(string(controllers), "memory") {
		parent, file = "/sys/fs/cgroup", "memory.max"
	}
	path, err := os.MkdirTemp(parent, "cairn-test-")
	if err != nil {
		t.Skipf("no memory cgroup can be made here: %v", err)
	}
	t.Cleanup(func() { // the kernel needs a moment to forget a process
		assert.Eventually(t, func() bool { return os.Remove(path) == nil }, 10*time.Second, 10*time.Millisecond)
	})
	if err := os.WriteFile(filepath.Join(path, file), []byte(strconv.FormatUint(limit, 10)), 0o644); err != nil {
		t.Skipf("the limit of a memory cgroup cannot be set here: %v", err)
	}
	return cgroup{path}
}

// command returns a command that runs another in the cgroup.
func (c cgroup) command(words ...string) []string {
	return append([]string{"sh", "-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, c.path}, words...)
}

// sharedMemory returns how many bytes of files on tmpfs are charged to the cgroup.
func (c cgroup) sharedMemory(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(c.path, "memory.stat"))
	require.NoError(t, err)
	for line := range strings.Lines(string(b)) {
		if text, ok := strings.CutPrefix(line, "shmem "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			require.NoError(t, err)
			return n
		}
	}
	require.Fail(t, "no line shmem")
	return math.MinInt64
}
