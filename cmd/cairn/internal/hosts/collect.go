package hosts

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/launch"
	"github.com/cairn-mpi/cairn/tracer/settings"
)

// NewRun returns the description of a run that `cairn run` starts and collects.
func NewRun(out string, config settings.Settings) *Run {
	return &Run{ID: "run-" + rand.Text(), Out: out, Settings: config, Collected: true}
}

// orUntraced runs the program also on hosts that do not have this command.
const orUntraced = `[ -x "$0" ] && exec "$0" exec --run "$@"; shift; echo "cairn: there is no $0 on $(hostname): what runs there is not traced" >&2; exec "$@"`

// Prefix returns what is to be put in front of the program so that it is a task of the run.
func (r *Run) Prefix() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	// launchers pass arguments on as text
	return []string{"/bin/sh", "-c", orUntraced, self, base64.RawURLEncoding.EncodeToString(raw)}, nil
}

func parseRun(text string) (r Run, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	return r, err
}

const (
	// arrival is how long parts are awaited before they are asked for.
	arrival = time.Second
	// noticed is how long that takes before it is said.
	noticed = 3 * time.Second
	// silence is how long the launcher may print nothing: longer than a host may take to answer.
	silence = sendLimit + 30*time.Second
)

// Collect has the parts of all hosts in the run's folder: those that see it write to it. The others
// are asked by means of the launcher.
func (r *Run) Collect(ctx context.Context, line *launch.CommandLine, say func(format string, args ...any)) error {
	slow := time.AfterFunc(noticed, func() {
		say("waiting for what other hosts recorded; a signal (Ctrl-C) ends this, and keeps what has come")
	})
	defer slow.Stop()
	AwaitAll(ctx, r.Out, arrival)
	if complete(r.Out) {
		return nil
	}
	if line.AsksForHosts() {
		return fmt.Errorf("a further srun would get hosts of its own, since this is no allocation: `cairn finish %s` on the job's hosts "+
			"writes there what they have", r.Out)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ask := func(hear func(io.Reader) error, arguments ...string) error {
		turn := append([]string{self, sendCommand, "--run", r.ID, "--turn", rand.Text()}, arguments...)
		return listen(ctx, line.Replaced(turn...), hear)
	}
	var names, done []string
	err = ask(func(out io.Reader) error {
		names = announcements(out)
		return nil
	})
	for _, name := range names {
		if ctx.Err() != nil {
			break
		}
		failed := ask(func(out io.Reader) error { return save(out, r.Out, name) }, "--part", name)
		if failed == nil {
			done = append(done, name)
		}
		err = errors.Join(err, failed)
	}
	if len(done) > 0 {
		err = errors.Join(err, ask(func(io.Reader) error { return nil }, "--done", strings.Join(done, ",")))
	}
	return err
}

// ofOutput are variables by which launchers write to files. Those have the job's output.
var ofOutput = []string{
	"SLURM_STDINMODE", "SLURM_STDOUTMODE", "SLURM_STDERRMODE", "SRUN_INPUT", "SRUN_OUTPUT", "SRUN_ERROR", "OMPI_MCA_orte_output_filename",
	"SLURM_PROLOG", "SLURM_EPILOG", "SRUN_PROLOG", "SRUN_EPILOG", "SLURM_TASK_PROLOG", "SLURM_TASK_EPILOG",
}

// A progress postpones a deadline with each piece that is read.
type progress struct {
	io.Reader
	deadline *time.Timer
}

func (p progress) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.deadline.Reset(silence)
	return n, err
}

// listen runs a command and has its standard output read.
func listen(ctx context.Context, command []string, hear func(io.Reader) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	deadline := time.AfterFunc(silence, func() { cancel(fmt.Errorf("the launcher printed nothing for %v", silence)) })
	defer deadline.Stop()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(ofOutput, name)
	})
	c.Cancel = func() error { return c.Process.Signal(unix.SIGTERM) } // so that it ends what it started
	c.WaitDelay = startLimit
	var problems bytes.Buffer
	c.Stderr = &problems
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return err
	}
	// a process that the launcher leaves behind may keep the pipe
	context.AfterFunc(ctx, func() { time.AfterFunc(startLimit, func() { out.Close() }) })
	heard := hear(progress{out, deadline})
	_, _ = io.Copy(io.Discard, out)
	err = c.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("the launcher: %w: %s", err, strings.TrimSpace(problems.String()))
	}
	return heard
}

// lines calls a function with what follows the keyword of each line that has one. Launchers may
// print a rank in front of each.
func lines(out io.Reader, f func(keyword, text string) error) error {
	for in := bufio.NewScanner(out); in.Scan(); {
		for _, keyword := range []string{announcement, piece, ending} {
			if _, text, found := strings.Cut(in.Text(), keyword+" "); found {
				if err := f(keyword, strings.TrimSpace(text)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func announcements(out io.Reader) (names []string) {
	_ = lines(out, func(keyword, text string) error {
		if keyword == announcement && filepath.IsLocal(text) && filepath.Base(text) == text {
			names = append(names, text)
		}
		return nil
	})
	return names
}

// save writes the part that is sent to a run's folder.
func save(in io.Reader, folder, name string) error {
	err := savePart(folder, name, func(out io.Writer) error {
		sum, whole := sha256.New(), false
		err := lines(in, func(keyword, text string) error {
			switch keyword {
			case piece:
				raw, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					return err
				}
				_, _ = sum.Write(raw)
				_, err = out.Write(raw)
				return err
			case ending:
				whole = text == hex.EncodeToString(sum.Sum(nil))
			}
			return nil
		})
		if err == nil && !whole {
			err = errors.New("not all of it has arrived")
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("the part %s: %w", name, err)
	}
	return nil
}
