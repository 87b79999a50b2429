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

// An ended is how a run of tests went.
type ended struct {
	failed   bool
	timedOut bool
	took     time.Duration
	output   []byte // the last part
	// lines are about top-level tests: RUN, CONT, PASS, FAIL and SKIP.
	lines []testLine
}

type testLine struct {
	word, test string
	seconds    float64
}

// execute runs a command of a folder. When it ends, nothing that it has started stays behind.
func execute(ctx context.Context, folder string, environment []string, timeout time.Duration,
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
	command = append(limits[:len(limits):len(limits)], command...)
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
	go func() { done <- c.Wait() }()
	e := &ended{}
	select {
	case err = <-done:
	case <-time.After(timeout):
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
	endLine   = regexp.MustCompile(`^--- (PASS|FAIL|SKIP): ([^/\s]+) \(([0-9.]+)s\)`)
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
			seconds, _ := strconv.ParseFloat(string(m[3]), 64)
			e.lines = append(e.lines, testLine{string(m[1]), string(m[2]), seconds})
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

func testFlags(short bool, timeout time.Duration, run string) []string {
	flags := []string{"-test.v", "-test.failfast", "-test.run=" + run}
	flags = append(flags, "-test.timeout="+timeout.String())
	if short {
		flags = append(flags, "-test.short")
	}
	return flags
}
