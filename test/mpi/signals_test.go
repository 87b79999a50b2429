//go:build mpi

package mpi

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// output is what a process prints, to be looked at while it does.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// running is a command that has been started, in a process group of its own.
type running struct {
	cmd    *exec.Cmd
	output *output // standard output and error
	ended  chan struct{}
}

func start(t *testing.T, command ...string) *running {
	t.Helper()
	// The tests themselves may run under nohup, or in the background of a script.
	command = append([]string{"env", "--default-signal=HUP,INT,QUIT"}, command...)
	r := &running{cmd: exec.Command(command[0], command[1:]...), output: new(output), ended: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = r.output, r.output
	r.cmd.Env = append(os.Environ(), "LD_PRELOAD="+yield, shimtest.OwnSessions(t))
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.WaitDelay = 5 * time.Second
	require.NoError(t, r.cmd.Start())
	go func() {
		_ = r.cmd.Wait()
		close(r.ended)
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
		<-r.ended
	})
	return r
}

// await waits until the output matches.
func (r *running) await(t *testing.T, what string) {
	t.Helper()
	pattern := regexp.MustCompile(what)
	require.Eventually(t, func() bool { return pattern.MatchString(r.output.String()) }, 30*time.Second, 20*time.Millisecond, "waiting for %q", what)
}

// end waits for the end of the command and gives its exit code.
func (r *running) end(t *testing.T, within time.Duration) int {
	t.Helper()
	select {
	case <-r.ended:
	case <-time.After(within):
		require.Fail(t, "it goes on", "after %v:\n%s", within, r.output)
	}
	return r.cmd.ProcessState.ExitCode()
}

func (r *running) send(t *testing.T, s syscall.Signal) {
	t.Helper()
	require.NoError(t, r.cmd.Process.Signal(s))
}

// job builds signals/job.c. Its path identifies its processes.
func job(t *testing.T, implementation string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "job")
	out, err := exec.Command("mpicc."+implementation, "-std=gnu11", "-O1", "-g", "-Wall", "-o", program, "signals/job.c").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// launched is the command for a program that is not among the examples.
func launched(implementation string, ranks int, program string, arguments ...string) []string {
	command := launch(implementation, ranks, "", arguments...)
	command[len(command)-len(arguments)-1] = program
	return command
}

func cairnRun(dir string, command ...string) []string {
	return append([]string{filepath.Join(shimtest.Root(), "bin", "cairn"), "run", "-o", dir, "--"}, command...)
}

// assertNobodyIsLeft looks for processes whose command line names the program.
func assertNobodyIsLeft(t *testing.T, program string) {
	t.Helper()
	left := func() (found []string) {
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, path := range lines {
			if line, err := os.ReadFile(path); err == nil && bytes.Contains(line, []byte(program)) {
				found = append(found, path+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
			}
		}
		return found
	}
	if !assert.Eventually(t, func() bool { return len(left()) == 0 }, 30*time.Second, 50*time.Millisecond) {
		t.Log(left())
	}
}

// assertCutShort: the trace is complete up to where the job was ended, and it has its report. Rank
// 0 prints "iteration" after each MPI_Allreduce, so the trace has at least as many; launchers may
// lose the last output.
func assertCutShort(t *testing.T, dir string, r *running) {
	t.Helper()
	file := filepath.Join(dir, "trace.cairn")
	said := strings.Count(r.output.String(), "iteration ")
	require.Positive(t, said, r.output)
	for rank, made := range dumpCounts(t, file) {
		assert.GreaterOrEqual(t, int(made["MPI_Allreduce"]), said-1, "rank %v", rank)
	}
	assert.Len(t, info(t, file)["ended_early"], 2, "no rank came to MPI_Finalize")
	for _, name := range []string{"index.html", "report.json", "summary.txt"} {
		assert.FileExists(t, filepath.Join(dir, "report", name))
	}
	assert.Contains(t, r.output.String(), "report: ")
	assert.NotContains(t, r.output.String(), "context canceled")
}

// A signal to cairn alone reaches the job, and its trace is finished, analyzed and reported.
func TestSignalReachesTheJob(t *testing.T) {
	t.Parallel()
	for i, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		for _, implementation := range shimtest.ImplementationsOf(i) {
			name := unix.SignalName(signal)
			t.Run(implementation+"/"+name, func(t *testing.T) {
				program := job(t, implementation)
				dir := filepath.Join(t.TempDir(), "out")
				r := start(t, cairnRun(dir, launched(implementation, 2, program, "loop")...)...)
				r.await(t, "iteration 20\n")
				r.send(t, signal)
				code := r.end(t, 15*time.Second)
				assert.NotZero(t, code)
				assert.Contains(t, r.output.String(), "cairn: "+name)
				assertCutShort(t, dir, r)
				assertNobodyIsLeft(t, program)
			})
		}
	}
}

// `timeout` sends its signal to cairn and to the process group, a shell may be between cairn and
// the launcher, and a shell ignores SIGINT for background jobs of a script.
func TestSignalsAsTheyCome(t *testing.T) {
	t.Parallel()
	for _, implementation := range implementations {
		program := job(t, implementation)
		loop := launched(implementation, 2, program, "loop")
		t.Run(implementation+"/timeout", func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			r := start(t, append([]string{"timeout", "120"}, cairnRun(dir, loop...)...)...)
			r.await(t, "iteration 20\n")
			require.NoError(t, r.cmd.Process.Signal(syscall.SIGALRM)) // the time is up
			assert.Equal(t, 124, r.end(t, 20*time.Second))
			assert.NotContains(t, r.output.String(), "this is the second signal")
			assertCutShort(t, dir, r)
			assertNobodyIsLeft(t, program)
		})
		t.Run(implementation+"/shell", func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			r := start(t, cairnRun(dir, "sh", "-c", strings.Join(loop, " ")+"; echo afterwards")...)
			r.await(t, "iteration 20\n")
			r.send(t, syscall.SIGTERM)
			assert.Equal(t, 128+15, r.end(t, 15*time.Second), r.output)
			assertCutShort(t, dir, r)
			assertNobodyIsLeft(t, program)
		})
		t.Run(implementation+"/background", func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			script := strings.Join(cairnRun(dir, loop...), " ") + " & echo pid $!; wait $!; echo code $?"
			r := start(t, "bash", "-c", script)
			r.await(t, "iteration 20\n")
			pid, err := strconv.Atoi(regexp.MustCompile(`pid (\d+)`).FindStringSubmatch(r.output.String())[1])
			require.NoError(t, err)
			require.NoError(t, syscall.Kill(pid, syscall.SIGINT))
			r.end(t, 15*time.Second)
			assert.Regexp(t, `code [1-9]`, r.output.String())
			assertCutShort(t, dir, r)
			assertNobodyIsLeft(t, program)
		})
	}
}

// counter is a command that counts the signals it gets, and ends a second after the first.
const counter = `trap 'n=$((n+1))' INT TERM; n=0; echo ready; while [ $n = 0 ]; do sleep 0.05; done; ` +
	`for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 0.05; done; echo "got $n signals"; exit 7`

// However a signal arrives, the command gets it once: launchers take a second one for "end at
// once".
func TestSignalComesOnce(t *testing.T) {
	t.Parallel()
	for name, send := range map[string]func(t *testing.T, r *running){
		"to cairn":     func(t *testing.T, r *running) { r.send(t, syscall.SIGTERM) },
		"to the group": func(t *testing.T, r *running) { require.NoError(t, syscall.Kill(-r.cmd.Process.Pid, syscall.SIGTERM)) },
		"to both": func(t *testing.T, r *running) { // as timeout does
			r.send(t, syscall.SIGTERM)
			require.NoError(t, syscall.Kill(-r.cmd.Process.Pid, syscall.SIGTERM))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, cairnRun(filepath.Join(t.TempDir(), "out"), "bash", "-c", counter)...)
			r.await(t, "ready")
			send(t, r)
			assert.Equal(t, 7, r.end(t, 15*time.Second), r.output)
			assert.Contains(t, r.output.String(), "got 1 signals")
		})
	}
	t.Run("a key at a terminal", func(t *testing.T) {
		// python3 is at the terminal, and cairn is in its foreground process group
		dir := filepath.Join(t.TempDir(), "out")
		r := start(t, append([]string{"python3", "-c", typistAtTerminal}, cairnRun(dir, "bash", "-c", counter)...)...)
		r.end(t, 15*time.Second)
		assert.Contains(t, r.output.String(), "got 1 signals")
		assert.Contains(t, r.output.String(), "code 7")
	})
}

// listener prints each signal that it gets, and ends after SIGTERM.
const listener = `
import os, signal, time
for s in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(s, lambda s, _: os.write(1, b"got %d\n" % s))
signal.signal(signal.SIGTERM, lambda *_: os._exit(7))
print("ready", flush=True)
while True: time.sleep(0.02) # not signal.pause, which misses one that comes just before
`

// The command gets every signal once that is sent to cairn or to its process group, as it does
// without cairn.
func TestSignalsArePassedOn(t *testing.T) {
	t.Parallel()
	signals := []syscall.Signal{
		syscall.SIGILL, syscall.SIGABRT, syscall.SIGUSR1, syscall.SIGSEGV, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGSTKFLT,
		syscall.SIGCONT, syscall.SIGXCPU, syscall.SIGVTALRM, syscall.SIGWINCH, syscall.SIGIO, syscall.SIGPWR, 35, 64,
	}
	r := start(t, cairnRun(filepath.Join(t.TempDir(), "out"), python, "-c", listener)...)
	r.await(t, "ready")
	for i, to := range [][]int{{1}, {-1}, {1, -1}} { // cairn, its group, and both as timeout does
		for _, s := range signals {
			for _, sign := range to {
				require.NoError(t, syscall.Kill(sign*r.cmd.Process.Pid, s))
			}
		}
		for _, s := range signals {
			require.Eventually(t, func() bool { return strings.Count(r.output.String(), fmt.Sprintf("got %d\n", s)) > i },
				20*time.Second, 10*time.Millisecond, "signal %d to %v", s, to)
		}
	}
	time.Sleep(time.Duration(len(signals)) * 400 * time.Millisecond) // in which further ones come
	for _, s := range signals {
		assert.Equal(t, 3, strings.Count(r.output.String(), fmt.Sprintf("got %d\n", s)), "signal %d", s)
	}
	r.send(t, syscall.SIGTERM)
	assert.Equal(t, 7, r.end(t, 15*time.Second))
}

// caller starts a command with signals ignored and blocked.
const caller = `
import os, signal, sys
for s in (1, 2, 3, 10, 13, 15, 17, 25, 28, 40): signal.signal(s, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {1, 8, 11, 12, 15, 17, 20, 23, 27, 31, 34, 41})
os.execvp(sys.argv[1], sys.argv[1:])
`

// The command gets the signals ignored and blocked that are so without cairn.
func TestSignalsAreInherited(t *testing.T) {
	t.Parallel()
	run := func(prefix ...string) string {
		command := append([]string{"-c", caller}, append(prefix, "grep", "^Sig[IBC]", "/proc/self/status")...)
		out, err := exec.Command(python, command...).Output()
		require.Equal(t, len(prefix) != 0, err != nil) // nothing was traced
		return string(out)
	}
	natively := run()
	require.Contains(t, natively, "SigBlk:\t000001024")
	require.Equal(t, natively, run(cairnRun(filepath.Join(t.TempDir(), "out"))...))
}

// typistAtTerminal runs a command in the foreground of a terminal and presses Ctrl-C
// when it is ready.
const typistAtTerminal = `import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
seen, pressed = b"", False
while True:
    try:
        seen += os.read(terminal, 4096)
    except OSError:
        break
    if b"ready\r\n" in seen and not pressed:
        pressed = True
        os.write(terminal, b"\x03")
print(seen.decode())
print("code", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`

// A command that does not end is killed: at once when it is asked again, otherwise after ten
// seconds. So is everything that it started.
func TestStubbornCommandIsKilled(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"second signal": true, "it takes too long": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mark := filepath.Join(t.TempDir(), "mark")
			stubborn := `trap '' TERM; (trap '' TERM; while :; do sleep 0.1; done; : ` + mark + `) & echo ready; while :; do sleep 0.1; done`
			r := start(t, cairnRun(filepath.Join(t.TempDir(), "out"), "bash", "-c", stubborn)...)
			r.await(t, "ready")
			begun := time.Now()
			r.send(t, syscall.SIGTERM)
			r.await(t, "SIGTERM: waiting up to 10s")
			if again {
				time.Sleep(1500 * time.Millisecond)
				r.send(t, syscall.SIGTERM)
			}
			assert.Equal(t, 128+15, r.end(t, 15*time.Second))
			assert.Contains(t, r.output.String(), "killed")
			assert.Equal(t, again, time.Since(begun) < 8*time.Second)
			assertNobodyIsLeft(t, mark)
		})
	}
}

// A signal before MPI_Init leaves no trace and is reported; one after MPI_Finalize leaves a
// complete trace; a job that ends in good order when asked to has succeeded.
func TestSignalsAroundTheRun(t *testing.T) {
	t.Parallel()
	for _, implementation := range implementations {
		program := job(t, implementation)
		t.Run(implementation+"/before MPI_Init", func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			r := start(t, cairnRun(dir, launched(implementation, 2, program, "early")...)...)
			r.await(t, "early 0")
			r.send(t, syscall.SIGTERM)
			assert.NotZero(t, r.end(t, 15*time.Second))
			assert.Contains(t, r.output.String(), "there is no trace")
			assert.NoDirExists(t, dir, "so that it can be repeated")
			assertNobodyIsLeft(t, program)
		})
		t.Run(implementation+"/after MPI_Finalize", func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			r := start(t, cairnRun(dir, launched(implementation, 2, program, "late")...)...)
			r.await(t, "late 0")
			r.send(t, syscall.SIGTERM)
			// with the launcher's code: MPICH's is content with ranks that came to MPI_Finalize
			r.end(t, 15*time.Second)
			assert.Empty(t, info(t, filepath.Join(dir, "trace.cairn"))["ended_early"])
			assert.FileExists(t, filepath.Join(dir, "report", "index.html"))
			assertNobodyIsLeft(t, program)
		})
		t.Run(implementation+"/graceful", func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			r := start(t, cairnRun(dir, program, "graceful")...) // launchers leave no time for that
			r.await(t, "iteration 20\n")
			r.send(t, syscall.SIGTERM)
			assert.Zero(t, r.end(t, 15*time.Second), r.output)
			assert.Empty(t, info(t, filepath.Join(dir, "trace.cairn"))["ended_early"])
			assert.FileExists(t, filepath.Join(dir, "report", "index.html"))
		})
	}
}

// A stopped job gets the signal too.
func TestStoppedJobIsEnded(t *testing.T) {
	t.Parallel()
	for _, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			program := job(t, implementation)
			dir := filepath.Join(t.TempDir(), "out")
			r := start(t, cairnRun(dir, launched(implementation, 2, program, "loop")...)...)
			r.await(t, "iteration 20\n")
			require.NoError(t, syscall.Kill(-r.cmd.Process.Pid, syscall.SIGSTOP))
			time.Sleep(200 * time.Millisecond)
			require.NoError(t, r.cmd.Process.Signal(syscall.SIGCONT))
			r.send(t, syscall.SIGTERM)
			assert.NotZero(t, r.end(t, 15*time.Second))
			assertCutShort(t, dir, r)
			assertNobodyIsLeft(t, program)
		})
	}
}

// A signal during the analysis ends that. The trace stays, and the command that is named
// makes its report.
func TestSignalDuringAnalysis(t *testing.T) {
	t.Parallel()
	program := job(t, "openmpi")
	signals := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT}
	if testing.Short() {
		delete(signals, "TERM")
	}
	for name, signal := range signals {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a b")
			many := launched("openmpi", 2, program, "many", "1000000")
			r := start(t, cairnRun(dir, append([]string{"env", "CAIRN_TEST_PAUSE_US=0"}, many...)...)...)
			file := filepath.Join(dir, "trace.cairn")
			require.Eventually(t, func() bool { _, err := os.Stat(file); return err == nil }, 2*time.Minute, 10*time.Millisecond)
			r.send(t, signal)
			assert.Equal(t, 128+int(signal), r.end(t, 5*time.Second), r.output)
			assert.NoFileExists(t, filepath.Join(dir, "report", "index.html"))
			assert.NotContains(t, r.output.String(), "context canceled")
			next := regexp.MustCompile(`cairn:   cairn (analyze .*)`).FindStringSubmatch(r.output.String())
			require.NotNil(t, next, r.output)
			assert.Contains(t, next[1], "'"+file+"'")

			out, err := exec.Command("sh", "-c", filepath.Join(shimtest.Root(), "bin", "cairn")+" "+next[1]).CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.FileExists(t, filepath.Join(dir, "report", "index.html"))
		})
	}
}

// Whatever the name of a folder, the tracer is loaded from it and writes to it.
func TestFoldersWithOddNames(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"a b", "a:b", "$LIB $ORIGIN", "q'\"`", "ünï→", "new\nline", "\xff\xfe", "a;b&c|(d)*?[e]#\\", "100%d", "-o"} {
		for _, implementation := range shimtest.ImplementationsOf(i) {
			t.Run(fmt.Sprintf("%s/%q", implementation, name), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "odd")
				dir = dir + "/" + name // filepath.Join would clean it
				r := cairn(t, dir, append([]string{"run", "-o", dir, "--verify", "--"}, launch(implementation, 2, "ring")...)...)
				require.Equal(t, 0, r.code, r.stderr)
				assert.Contains(t, r.stdout, "agree with the reference log")
				assert.FileExists(t, filepath.Join(dir, "trace.cairn"))
				assert.FileExists(t, filepath.Join(dir, "report", "index.html"))
				assert.NotContains(t, r.stderr, "ld.so")
			})
		}
	}
}

// A run is refused a folder that has one in it, before its command is started; --force replaces
// that one, and leaves nothing of it even where the new run fails.
func TestRepeatedRuns(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	command := launch("openmpi", 2, "ring")
	run := func(flags []string, command ...string) result {
		return cairn(t, dir, append(append([]string{"run", "-o", dir}, flags...), append([]string{"--"}, command...)...)...)
	}
	require.Equal(t, 0, run(nil, command...).code)
	before, err := os.ReadFile(filepath.Join(dir, "trace.cairn"))
	require.NoError(t, err)

	mark := filepath.Join(t.TempDir(), "started")
	r := run(nil, "touch", mark)
	assert.Equal(t, 64, r.code)
	assert.Contains(t, r.stderr, dir)
	assert.Contains(t, r.stderr, "--force")
	assert.NoFileExists(t, mark)
	after, err := os.ReadFile(filepath.Join(dir, "trace.cairn"))
	require.NoError(t, err)
	assert.Equal(t, before, after)

	assert.Equal(t, 127, run([]string{"--force"}, "no-such-command").code)
	assert.FileExists(t, filepath.Join(dir, "trace.cairn"), "a typing error costs nothing")

	require.Equal(t, 0, run([]string{"--force"}, command...).code)
	assert.FileExists(t, filepath.Join(dir, "report", "index.html"))

	assert.Equal(t, 1, run([]string{"--force"}, "false").code)
	assert.NoFileExists(t, filepath.Join(dir, "trace.cairn"))
	assert.NoDirExists(t, filepath.Join(dir, "report"))
	assert.Equal(t, 0, run(nil, command...).code, "nothing is in the way")
}
