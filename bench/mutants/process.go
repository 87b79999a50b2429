package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// command runs a command whose output is for the user.
func command(ctx context.Context, folder, name string, arguments ...string) error {
	c := exec.CommandContext(ctx, name, arguments...)
	c.Dir, c.Stdout, c.Stderr = folder, os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s %s in %s: %w", name, strings.Join(arguments, " "), folder, err)
	}
	return nil
}

// limits keep a mutant that allocates or writes without end from harming the machine: bytes of
// memory of a process, and of a file.
var limits = []string{"prlimit", "--data=8589934592", "--fsize=4294967296"}

// A process that waits for what never comes is ended after idle, and what its tests take more.
const idle = 5 * time.Minute

// An ended is how a run of tests went.
type ended struct {
	failed   bool
	timedOut bool
	took     time.Duration
	output   []byte // the last part
	lines    []testLine
}

// A testLine is a line of the output about a test or one of its parts.
type testLine struct {
	word, test string // RUN, CONT, NAME, PASS, FAIL or SKIP; the test as a whole
	depth      int
	seconds    float64
}

// seconds is how long a test took. Its own line does not have the time of parts that run in
// parallel with others.
func (e *ended) seconds(test string) float64 {
	var depths [8]float64
	for _, l := range e.lines {
		if l.test == test && l.depth < len(depths) {
			depths[l.depth] += l.seconds
		}
	}
	return slices.Max(depths[:])
}

// execute runs a command of a folder. When it ends, nothing that it has started stays behind. It
// may use as much time of a CPU as limit, since on a busy machine other time says little.
func execute(ctx context.Context, folder string, environment []string, limit time.Duration,
	command ...string) (*ended, error) {
	scratch, err := os.MkdirTemp("", "m")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	out, err := os.Create(filepath.Join(scratch, "output"))
	if err != nil {
		return nil, err
	}
	defer out.Close()
	if err := os.Mkdir(filepath.Join(scratch, "t"), 0o777); err != nil {
		return nil, err
	}
	cpu := fmt.Sprintf("--cpu=%d", int(limit.Seconds()))
	command = slices.Concat(limits, []string{cpu}, command)
	c := exec.Command(command[0], command[1:]...)
	c.Dir, c.Stdout, c.Stderr = folder, out, out
	c.Env = append(os.Environ(), "TMPDIR="+filepath.Join(scratch, "t"), "PWD="+folder)
	c.Env = append(c.Env, environment...)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	begun := time.Now()
	if err := c.Start(); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() {
		done <- c.Wait()
		close(done) // it may be read twice
	}()
	e := &ended{}
	select {
	case err = <-done:
	case <-time.After(idle + limit):
		e.timedOut = true
	case <-ctx.Done():
	}
	e.took = time.Since(begun)
	endSession(c.Process.Pid)
	if e.timedOut || ctx.Err() != nil {
		err = <-done
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	e.failed = err != nil
	if exit != nil {
		status := exit.Sys().(syscall.WaitStatus)
		e.timedOut = e.timedOut || status.Signaled() && status.Signal() == syscall.SIGKILL
	}
	return e, e.read(out.Name())
}

// endSession kills all processes of a session, which have other process groups, too.
func endSession(session int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// the fields after the command's name: state, parent, group, session
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(fields) > 3 && fields[3] == strconv.Itoa(session) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

var (
	startLine = regexp.MustCompile(`^=== (RUN|CONT|NAME) +([^/\s]+)`)
	endLine   = regexp.MustCompile(`^( *)--- (PASS|FAIL|SKIP): ([^/\s]+)\S* \(([0-9.]+)s\)`)
)

func (e *ended) read(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for r := bufio.NewReaderSize(f, 1<<16); ; {
		line, _, err := r.ReadLine()
		if err != nil {
			return nil
		}
		if m := startLine.FindSubmatch(line); m != nil {
			e.lines = append(e.lines, testLine{word: string(m[1]), test: string(m[2])})
		} else if m := endLine.FindSubmatch(line); m != nil {
			seconds, _ := strconv.ParseFloat(string(m[4]), 64)
			e.lines = append(e.lines, testLine{string(m[2]), string(m[3]), len(m[1]) / 4, seconds})
		}
		const kept = 4096
		e.output = append(append(e.output, line...), '\n')
		if len(e.output) > 2*kept {
			e.output = append([]byte(nil), e.output[len(e.output)-kept:]...)
		}
	}
}

// culprit is the test that failed, or the last one that ran before the process ended.
func (e *ended) culprit() string {
	last := ""
	for _, l := range e.lines {
		if l.word == "FAIL" {
			return l.test
		}
		if l.word != "PASS" && l.word != "SKIP" {
			last = l.test
		}
	}
	return last
}

func testFlags(short bool, run string) []string {
	flags := []string{"-test.v", "-test.failfast", "-test.timeout=0", "-test.run=" + run}
	if short {
		flags = append(flags, "-test.short")
	}
	return flags
}
