package main

import (
	"bufio"
	"context"
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

// logs is where the whole output of each stage is kept, relative to the root of the repository.
var logs = filepath.Join("out", "test")

// An executor runs stages.
type executor struct {
	short bool
	built bool // the stage build made the commands: tests need not (package test/built)
}

// A log is the file with a stage's output. It remembers its first error.
type log struct {
	file *os.File
	err  error
}

func (l *log) write(line string) {
	if _, err := l.file.WriteString(line); err != nil && l.err == nil {
		l.err = err
	}
}

// goTest is the beginning of a step that runs Go tests.
var goTest = regexp.MustCompile(`^(\w+=\w+ )*go test `)

func (e *executor) say(st stage, line string) {
	fmt.Printf("%s %-7s %s\n", time.Now().Format("15:04:05"), st.name, line)
}

func (e *executor) execute(ctx context.Context, st stage) (r result) {
	started := time.Now()
	speed := startSpeedometer()
	r = result{stage: st, state: passed}
	defer func() {
		r.wall, r.slow = time.Since(started), speed.stop()
		e.say(st, fmt.Sprintf("=== %s after %.0f s", r.state, r.wall.Seconds()))
	}()
	e.say(st, "===")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		e.say(st, err.Error())
		r.state = failed
		return r
	}
	file, err := os.Create(filepath.Join(logs, st.name+".log"))
	if err != nil {
		e.say(st, err.Error())
		r.state = failed
		return r
	}
	defer file.Close()
	log := &log{file: file}
	events := newEvents(func(line string) { e.say(st, line) })
	for _, step := range st.steps {
		if err := e.step(ctx, st, step, log, events, &r); err != nil {
			e.say(st, fmt.Sprintf("%s: %v", step, err))
			if e.again(ctx, st, step, log, events, &r) {
				continue
			}
			r.state = failed
			break
		}
	}
	if log.err != nil {
		e.say(st, log.err.Error())
		r.state = failed
	}
	if r.state == passed && events.counts == (counts{}) && slices.ContainsFunc(st.steps, goTest.MatchString) {
		e.say(st, "no test ran")
		r.state = failed
	}
	r.counts, r.tests = events.counts, events.slowest()
	r.wrong, r.unsteady = events.wrong(), events.unsteady
	return r
}

// step runs one command of a stage and adds its CPU time to the result.
func (e *executor) step(ctx context.Context, st stage, step string, log *log, events *events, r *result) error {
	if m := goTest.FindString(step); m != "" {
		flags := "-json "
		if e.short {
			flags += "-short "
		}
		if !e.built { // cached results may be those of other commands
			flags += "-count=1 "
		}
		step = m + flags + step[len(m):]
	}
	// 1. A session of its own: an interrupt ends everything that the step started, and Linux
	// schedules the step as one unit beside other sessions (sched(7), autogroup).
	c := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", step)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = 2 * time.Minute
	used := filepath.Join(logs, st.name+".cpu")
	c.Env = append(os.Environ(), "CAIRN_TEST_CPU="+used, "CAIRN_TEST_SHORT="+strconv.FormatBool(e.short))
	if e.built && st.name != "build" {
		bin, err := filepath.Abs("bin")
		if err != nil {
			return err
		}
		c.Env = append(c.Env, "CAIRN_BIN="+bin)
	}
	_ = os.Remove(used)
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	c.Stdout, c.Stderr = in, in
	// 2. Its output, line by line: to the log, and what is worth it to the screen.
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadString('\n')
			log.write(line)
			if line = strings.TrimRight(line, "\n"); line != "" {
				events.line(line)
			}
			if err != nil {
				return
			}
		}
	}()
	err = c.Run()
	_ = in.Close()
	// what ignored the interrupt, or outlived its step: it may have the pipe
	if c.Process != nil {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	}
	_ = out.SetReadDeadline(time.Now().Add(10 * time.Second))
	<-read
	// 3. Its CPU time, with that of processes that it did not wait for, such as a cluster's: the
	// step writes that one to a file.
	if c.ProcessState != nil {
		r.cpu += (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	}
	if text, readErr := os.ReadFile(used); readErr == nil {
		more, parseErr := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
		if parseErr != nil {
			return fmt.Errorf("%s: %w", used, parseErr)
		}
		r.cpu += more
	}
	return err
}
