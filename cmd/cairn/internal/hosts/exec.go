package hosts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/launch"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracerroot"
)

// A start is one `cairn exec`.
type start struct {
	run     Run
	task    Task
	command []string
	named   bool // the run's folder is, by the user
	stderr  io.Writer
}

// startLimit is how long a task waits for the compressor of its host before it runs untraced.
const startLimit = 10 * time.Second

// become joins the run and becomes the program. It only returns if that fails.
func (s *start) become() error {
	program, err := find(s.command[0])
	if err != nil {
		return err
	}
	environment := os.Environ()
	if tracerroot.Inherited() {
		if s.named && s.task.Rank <= 0 {
			s.say("the program is traced already, to where `cairn run` in front of the launcher writes: -o is not used")
		}
	} else {
		added, err := s.join()
		switch {
		case cli.IsUsageError(err) && s.task.First:
			return err
		case cli.IsUsageError(err):
			return cli.StatusError(cli.ExitUsage, nil)
		case err != nil && s.task.First:
			// the program matters more than its trace, so it runs anyway
			s.say("tracing is off on this host: %v", err)
		case err == nil && s.task.Rank <= 0 && !s.run.Collected:
			s.say("tracing to %s; after the job, `cairn finish %s` prints the verdict", s.run.Out, s.run.Out)
		}
		environment = with(environment, added)
	}
	launch.Restore()
	return unix.Exec(program, s.command, environment)
}

// find returns the path of a program: where a shell looks, or in the current folder, as
// launchers do.
func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) {
		return path, nil
	}
	if !strings.ContainsRune(name, '/') {
		if here, err := exec.LookPath("./" + name); err == nil {
			return here, nil
		}
	}
	return "", launch.CheckCommand(name)
}

func (s *start) say(format string, args ...any) {
	fmt.Fprintf(s.stderr, "cairn: "+format+"\n", args...)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// with returns an environment with variables set.
func with(environment, variables []string) []string {
	for _, variable := range variables {
		name, _, _ := strings.Cut(variable, "=")
		environment = slices.DeleteFunc(environment, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		environment = append(environment, variable)
	}
	return environment
}

// join makes this process a task of the run on this host, as the first one or a later one, and
// returns the variables that have it traced.
func (s *start) join() ([]string, error) {
	here, err := makeFolder(&s.run)
	if err != nil {
		return nil, err
	}
	for begun := time.Now(); ; time.Sleep(max(time.Millisecond, time.Since(begun)/16)) {
		held, err := here.lock()
		if held != nil {
			err = s.startCompressor(here, held)
			held.Close()
		}
		if errors.Is(err, os.ErrNotExist) && !cli.IsUsageError(err) { // removed at the end of an earlier start
			here, err = makeFolder(&s.run)
		}
		if err != nil {
			return nil, err
		}
		if err = announce(here, &s.task); err == nil {
			return tracerroot.Environment(string(here), s.run.Settings), nil
		}
		if time.Since(begun) > startLimit {
			return nil, fmt.Errorf("the compressor of this host does not answer: %w", err)
		}
	}
}

// startCompressor starts the host's compressor, which keeps the lock, and waits until it is ready.
func (s *start) startCompressor(here folder, held *os.File) error {
	if err := s.run.claim(); err != nil {
		_ = here.remove() // nobody traces anything in it
		return err
	}
	s.run.Command = absolute(s.command)
	raw, err := json.Marshal(s.run)
	if err != nil {
		return err
	}
	if err := os.WriteFile(here.path(runFile), raw, 0o600); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(here.path(logFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer nothing.Close()
	ready, done, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	forgetChildren(func() {
		// os/exec would start and await another child, to learn what the system has
		var detach int
		detach, err = syscall.ForkExec(self, []string{self, compressorCommand, "--detach", string(here)}, &syscall.ProcAttr{
			Dir: "/", Env: with(os.Environ(), []string{"LD_PRELOAD="}),
			Files: []uintptr{nothing.Fd(), log.Fd(), log.Fd(), held.Fd(), done.Fd()},
		})
		done.Close()
		if err == nil {
			await(detach) // it ends at once; how is not known
		}
	})
	if err != nil {
		return err
	}
	_ = ready.SetReadDeadline(time.Now().Add(startLimit))
	if n, _ := ready.Read(make([]byte, 1)); n != 1 {
		words, _ := os.ReadFile(here.path(logFile))
		return fmt.Errorf("its compressor did not start: %s", strings.TrimSpace(string(words)))
	}
	return nil
}

// await returns when a child has ended.
func await(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// forgetChildren calls a function whose children leave no trace in this process: neither a child
// that the program could wait for, nor CPU time of children, which a wait would add. What they
// leave does not become this process's child either, unless it is the first of its PID namespace.
func forgetChildren(f func()) {
	signal.Ignore(unix.SIGCHLD)
	var adopts int32
	_ = unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&adopts)), 0, 0, 0)
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	f()
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, uintptr(adopts), 0, 0, 0)
	if !launch.Ignored(unix.SIGCHLD) {
		// the runtime's handler, which the program gets as the default (Reset leaves it ignored)
		signal.Notify(make(chan os.Signal, 1), unix.SIGCHLD)
	}
}

// absolute returns the words of a command as they are to be read in any folder.
func absolute(command []string) []string {
	words := slices.Clone(command)
	for i, word := range words {
		if path, err := filepath.Abs(word); err == nil && strings.ContainsRune(word, '/') && exists(path) {
			words[i] = path
		}
	}
	return words
}

// claim makes sure that the run's folder is for this run, where this host sees or may make it.
func (r *Run) claim() error {
	if r.Collected {
		return nil // by `cairn run`
	}
	for _, earlier := range []string{traceFile, filepath.Join("report", "index.html")} {
		if exists(filepath.Join(r.Out, earlier)) {
			return r.occupied(earlier)
		}
	}
	if err := r.Mark(); err != nil {
		var of *fs.PathError
		if errors.As(err, &of) {
			err = of.Err
		}
		return cli.UsageError(fmt.Errorf("a run cannot be written to %s (%w): name another folder with -o", r.Out, err))
	}
	if r.sees() {
		return nil
	}
	return r.occupied("tracer")
}

func (r *Run) occupied(by string) error {
	return cli.UsageError(fmt.Errorf("%s has an earlier run in it (%s): name another folder with -o, or remove that run", r.Out, by))
}
