//go:build mpi

package mpi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// `cairn exec` on one host makes the trace that `cairn run` makes: every call, as the reference log
// has it. `cairn finish` prints what `cairn run` prints, at any time.
func TestExecOnThisHost(t *testing.T) {
	for _, implementation := range shimtest.ImplementationsOf(1) {
		t.Run(implementation, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("TMPDIR", dir)
			by := map[string]result{"run": trace(t, []string{"--verify"}, launch(implementation, 4, "ring")...)}
			out := filepath.Join(dir, "out")
			command := shimtest.Launch(implementation, 4, cairnBinary(), "exec", "-o", out, "--verify", shimtest.Example(implementation, "ring"))
			started := shimtest.Run(t, nil, command...)
			require.Zero(t, started.Code, started.Stderr)
			require.Equal(t, 1, strings.Count(started.Stderr, "cairn: "), started.Stderr)
			require.Contains(t, started.Stderr, "cairn finish "+out)
			by["exec"] = cairn(t, out, "finish", out)
			calls := map[string]any{}
			require.Contains(t, by["exec"].stdout, "agree with the reference log")
			for name, r := range by {
				require.Zero(t, r.code, r.stderr)
				calls[name] = dumpCounts(t, filepath.Join(r.dir, "trace.cairn"))
				require.NoDirExists(t, filepath.Join(r.dir, "tracer"))
				require.FileExists(t, filepath.Join(r.dir, "report", "index.html"))
			}
			require.NotEmpty(t, calls["run"])
			require.Equal(t, calls["run"], calls["exec"])

			again := cairn(t, out, "finish", out)
			require.Zero(t, again.code, again.stderr)
			require.Contains(t, again.stdout, "hosts:  1; their compressors took ")
			refused := shimtest.Run(t, nil, command...)
			require.NotZero(t, refused.Code)
			require.Contains(t, refused.Stderr, out+" has an earlier run in it (trace.cairn)")
			require.NotContains(t, refused.Stdout, "ranks")
			left, err := filepath.Glob(filepath.Join(dir, "cairn-*", "*"))
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// stranger starts a command as an odd launcher does, and probe prints what the process is then.
const (
	stranger = `
import os, signal, sys, resource, ctypes
for s in (signal.SIGPIPE, signal.SIGCHLD, signal.SIGUSR1, signal.SIGTERM, signal.SIGQUIT): signal.signal(s, signal.SIG_IGN)
for s in sys.argv[1].split(","):
    if s: signal.signal(int(s), signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGUSR2, signal.SIGCHLD, signal.SIGSEGV, signal.SIGPROF))
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 128))
resource.setrlimit(resource.RLIMIT_CORE, (0, 4096))
ctypes.CDLL(None).prctl(1, signal.SIGUSR1)
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) # it adopts what has lost its parent
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.nice(3); os.umask(0o27); os.setpgid(0, 0)
child = os.fork()
if child == 0: os._exit(0)
try: os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
except ChildProcessError: pass
os.execvp(sys.argv[2], sys.argv[2:])
`
	probe = `
import re, os, sys, resource, ctypes, signal, json
status = {k: v.strip() for k, v in (l.split(":", 1) for l in open("/proc/self/status"))}
death = ctypes.c_int()
adopts = ctypes.c_int()
ctypes.CDLL(None).prctl(2, ctypes.byref(death))
ctypes.CDLL(None).prctl(37, ctypes.byref(adopts), 0, 0, 0)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
try: child = os.waitpid(-1, os.WNOHANG)[1]
except OSError as e: child = str(e)
print(json.dumps({
  "signals": [status[k] for k in ("SigIgn", "SigBlk", "SigCgt")] + [int(status["SigPnd"], 16) | int(status["ShdPnd"], 16)], "death": death.value, "adopts": adopts.value, "threads": status["Threads"],
  "limits": [resource.getrlimit(i) for i in range(16)], "descriptors": [re.sub("[0-9]+", "", os.readlink("/proc/self/fd/%s" % f)) for f in sorted(os.listdir("/proc/self/fd"))[:-1]],
  "cpus": list(os.sched_getaffinity(0)), "nice": os.nice(0), "umask": os.umask(0), "leader": os.getpgid(0) == os.getpid(), "parent": os.getppid() == int(os.environ["STARTED_BY"]),
  "child": child, "of children": list(used), "arguments": sys.argv, "directory": os.getcwd(),
  "environment": sorted(hash(v) for v in os.environ.items() if v[0] not in ("LD_PRELOAD", "CAIRN_ROOT", "PYTHONHASHSEED")), "name": open("/proc/self/comm").read(),
}, sort_keys=True, indent=1))
print("to stderr", file=sys.stderr)
print(sys.stdin.read())
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGKILL) if "-kill" in sys.argv else sys.exit(7)
`
)

// A program under `cairn exec` is the process that its launcher started, as without it, whether it
// is the first of its host or not: it has no child that it did not start, no CPU time of one, and
// the signals, limits, descriptors and CPUs that it was given. (That a child ended is not seen
// where children are ignored, so they are in half of the cases.)
func TestExecIsTheProgram(t *testing.T) {
	dir := t.TempDir()
	defer awaitCompressors(t, dir)
	for name, handled := range map[string]string{"children ignored": "", "children not ignored": "17"} {
		for _, kill := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, killed %t", name, kill), func(t *testing.T) {
				t.Setenv("FLUX_JOB_ID", "odd-"+strconv.FormatInt(time.Now().UnixNano(), 36))
				t.Setenv("FLUX_JOB_SIZE", "9")
				own, err := os.MkdirTemp(dir, "")
				require.NoError(t, err)
				t.Setenv("TMPDIR", own)
				t.Setenv("PYTHONHASHSEED", "1")
				t.Setenv("STARTED_BY", strconv.Itoa(os.Getpid()))
				run := func(rank string, prefix ...string) (outputs [3]string) {
					t.Setenv("FLUX_TASK_RANK", rank)
					words := append([]string{"-c", stranger, handled}, prefix...)
					words = append(words, python, "-c", probe, "a b", "-x")
					if kill {
						words = append(words, "-kill")
					}
					cmd := exec.Command(python, words...)
					var stdout, stderr bytes.Buffer
					cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = strings.NewReader("input"), &stdout, &stderr, "/"
					require.Error(t, cmd.Run())
					return [3]string{stdout.String(), stderr.String(), cmd.ProcessState.String()}
				}
				natively := run("1")
				require.Contains(t, natively[0], "input")
				for _, which := range []string{"first", "second"} {
					traced := run("1", cairnBinary(), "exec", "-o", filepath.Join(os.Getenv("TMPDIR"), "out"))
					require.Equal(t, natively[1:], traced[1:], which)
					require.Equal(t, natively[0], traced[0], which)
				}
			})
		}
	}
}

// Standard files that are closed are so in the program.
func TestClosedStandardFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	defer awaitCompressors(t, dir)
	for i, closed := range []string{"<&-", "2>&-", "<&- 2>&-", ">&-", "<&- >&- 2>&-"} {
		out := filepath.Join(dir, fmt.Sprintf("out-%d", i))
		for _, prefix := range []string{"", cairnBinary() + " run -o " + out + "-run -- ", cairnBinary() + " exec -o " + out + " "} {
			file := filepath.Join(dir, "open")
			script := prefix + python + ` -c 'import os,sys; found = str([os.path.exists("/proc/self/fd/%d" % f) for f in range(3)]); open(sys.argv[1],"w").write(found)' ` + file
			_ = exec.Command("sh", "-c", script+" "+closed).Run()
			got, err := os.ReadFile(file)
			require.NoError(t, err, script)
			expected := []string{"True", "True", "True"}
			for fd, mark := range []string{"<&-", " >&-", "2>&-"} {
				if strings.Contains(" "+closed, mark) {
					expected[fd] = "False"
				}
			}
			require.Equal(t, "["+strings.Join(expected, ", ")+"]", string(got), "%s %s", script, closed)
			require.NoError(t, os.Remove(file))
		}
	}
}

// awaitCompressors waits until no compressor has a folder below dir, which is removed then.
func awaitCompressors(t *testing.T, dir string) {
	t.Helper()
	require.Eventually(t, func() bool {
		return !slices.ContainsFunc(processes(t), func(p process) bool { return strings.Contains(p.command, "compress-host\x00"+dir) })
	}, 20*time.Second, 20*time.Millisecond)
}

// task starts a task of a job as flux does.
func task(job string, rank, size int, out string, command ...string) *exec.Cmd {
	cmd := exec.Command(cairnBinary(), append([]string{"exec", "-o", out}, command...)...)
	cmd.Env = append(os.Environ(), "FLUX_JOB_ID="+job, "FLUX_JOB_SIZE="+strconv.Itoa(size), "FLUX_TASK_RANK="+strconv.Itoa(rank))
	return cmd
}

// However many tasks of a host start at the same time, in however many jobs of one user, each job
// has one compressor, and that has all of its tasks. It finishes the run, and leaves nothing.
func TestOneCompressorForEachJob(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	const jobs, size = 3, 12
	var all sync.WaitGroup
	for job := range jobs {
		for rank := range size {
			all.Go(func() {
				out, err := task(strconv.Itoa(job), rank, size, filepath.Join(dir, "out-"+strconv.Itoa(job)), "true").CombinedOutput()
				assert.NoError(t, err, string(out))
			})
		}
	}
	all.Wait()
	for job := range jobs {
		out := filepath.Join(dir, "out-"+strconv.Itoa(job))
		awaitPart(t, out) // the last compressor finishes the run, whichever task it was started by
		r := cairn(t, out, "finish", out)
		require.Equal(t, 64, r.code, r.stderr)
		require.Contains(t, r.stderr, "nothing to finish was found")
		raw, err := os.ReadFile(filepath.Join(out, "hosts.json"))
		require.NoError(t, err)
		var parts []struct{ Tasks []int }
		require.NoError(t, json.Unmarshal(raw, &parts))
		require.Len(t, parts, 1)
		slices.Sort(parts[0].Tasks)
		require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, parts[0].Tasks)
	}
	left, err := filepath.Glob(filepath.Join(dir, "cairn-*", "*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// The compressor may run on all CPUs, whatever the task that starts it is bound to, is in no
// process group or session of the job, and no signal to the job ends it.
func TestCompressorIsNotTheRanks(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	cmd := task("bound", 0, 2, filepath.Join(dir, "out"), "taskset", "-c", "0", "sleep", "60")
	cmd.Args = append([]string{"taskset", "-c", "0"}, cmd.Args...)
	cmd.Path, _ = exec.LookPath("taskset")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	cmd.ExtraFiles = []*os.File{nil, nil, write}
	require.NoError(t, cmd.Start())
	write.Close()
	defer func() { _ = cmd.Process.Kill() }()
	var pid int
	require.Eventually(t, func() bool {
		started := false
		for _, p := range processes(t) {
			if strings.Contains(p.command, "compress-host\x00"+dir) {
				pid = p.pid
			}
			started = started || p.pid == cmd.Process.Pid && strings.HasPrefix(p.command, "sleep")
		}
		return pid != 0 && started
	}, 10*time.Second, 10*time.Millisecond)
	status := func(pid, name string) string {
		raw, err := os.ReadFile("/proc/" + pid + "/status")
		require.NoError(t, err)
		_, after, _ := strings.Cut(string(raw), name+":\t")
		line, _, _ := strings.Cut(after, "\n")
		return line
	}
	require.Equal(t, status("self", "Cpus_allowed_list"), status(strconv.Itoa(pid), "Cpus_allowed_list"))
	session, err := unix.Getsid(pid)
	require.NoError(t, err)
	require.Equal(t, pid, session)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		require.NoError(t, syscall.Kill(pid, sig))
	}
	require.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
	_ = cmd.Wait()
	require.NoError(t, read.SetReadDeadline(time.Now().Add(time.Second)))
	_, err = read.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "the compressor has a descriptor of the launcher's")
	require.NoError(t, syscall.Kill(pid, 0), "it has ended before")
	require.Eventually(t, func() bool {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return err != nil || len(raw) == 0 // nobody may have waited for it
	}, 10*time.Second, 10*time.Millisecond)
	parts, err := filepath.Glob(filepath.Join(dir, "out", "tracer", "parts", "*.tar.zst"))
	require.NoError(t, err)
	require.Len(t, parts, 1)
}

type process struct {
	pid     int
	command string
}

func processes(t *testing.T) (found []process) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if pid, failed := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && failed == nil {
			found = append(found, process{pid, string(raw)})
		}
	}
	return found
}

// A folder that a run cannot be written to is refused before the program starts.
func TestExecRefusesAFolder(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	for _, out := range []string{file, filepath.Join(file, "below"), "/proc/no-folder"} {
		cmd := task("refused", 0, 1, out, "touch", filepath.Join(dir, "started"))
		said, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Equal(t, 64, cmd.ProcessState.ExitCode(), string(said))
		require.Contains(t, string(said), "a run cannot be written to "+out)
		require.NoFileExists(t, filepath.Join(dir, "started"))
	}
	left, err := filepath.Glob(filepath.Join(dir, "cairn-*", "*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// A program in the current folder is found, as launchers find it.
func TestExecInTheCurrentFolder(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.out"), []byte("#!/bin/sh\necho ran\n"), 0o755))
	cmd := task("here", 0, 1, filepath.Join(dir, "out"), "a.out")
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, string(said))
	require.Contains(t, string(said), "ran")
	awaitPart(t, filepath.Join(dir, "out"))
	said, err = task("none", 0, 1, filepath.Join(dir, "out-2"), "no-such-program").CombinedOutput()
	require.ErrorContains(t, err, "exit status 127", string(said))
}

// awaitPart waits until the compressor of a job without MPI has done its work.
func awaitPart(t *testing.T, out string) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(out, "hosts.json"))
		return err == nil
	}, 20*time.Second, 20*time.Millisecond)
	awaitCompressors(t, filepath.Dir(out))
}

// A program is traced although its environment names a tracer that is not in it. With one that is,
// the folder is that of the other.
func TestExecUnderAnotherTracer(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	out := filepath.Join(dir, "out")
	cmd := task("stale", 0, 1, out, "sh", "-c", "echo $CAIRN_ROOT")
	cmd.Env = append(cmd.Env, "CAIRN_ROOT="+dir)
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, string(said))
	require.Contains(t, string(said), "tracing to "+out)
	require.NotContains(t, string(said), dir+"\n")
	awaitPart(t, out)

	said, err = exec.Command(cairnBinary(), "run", "-o", filepath.Join(dir, "of-run"), "--", cairnBinary(), "exec", "-o", filepath.Join(dir, "other"), "true").CombinedOutput()
	require.Error(t, err) // nothing was traced
	require.Contains(t, string(said), "-o is not used")
	require.NoDirExists(t, filepath.Join(dir, "other"))
}
