package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// exitCode is an error that becomes the exit code of this process.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// An execution is what a command took and how it ended.
type execution struct {
	Code   int     `json:"code"` // 128 + the signal, as in shells
	Wall   float64 `json:"wall"` // seconds
	CPU    float64 `json:"cpu"`  // seconds, including all processes that it waited for
	MiB    float64 `json:"mib"`  // of its largest process
	Killed string  `json:"killed,omitempty"`

	stdout, stderr string
}

// newMeasureCommand starts the launcher of a program below cairn run: the output of the program is
// kept apart from that of cairn, and its CPU time from that of the analysis.
func newMeasureCommand() *cobra.Command {
	var to string
	c := &cobra.Command{
		Use: "measure COMMAND…", Short: "Run a command with its output and usage in files", Args: cobra.MinimumNArgs(1), Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			e, err := limits{seconds: 3600}.execute(context.WithoutCancel(c.Context()), exec.Command(args[0], args[1:]...))
			if err != nil {
				return err
			}
			if err := e.save(to); err != nil {
				return err
			}
			if e.Code != 0 {
				return exitCode(e.Code)
			}
			return nil
		},
	}
	c.Flags().SetInterspersed(false) // flags after the command are its own
	c.Flags().StringVarP(&to, "output", "o", "", "prefix of the files")
	return c
}

// save writes PREFIX.json, PREFIX.out and PREFIX.err.
func (e *execution) save(prefix string) error {
	usage, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(prefix+".json", usage, 0o644),
		os.WriteFile(prefix+".out", []byte(e.stdout), 0o644), os.WriteFile(prefix+".err", []byte(e.stderr), 0o644))
}

// loadExecution reads what save has written.
func loadExecution(prefix string) (*execution, error) {
	e := &execution{}
	usage, err := os.ReadFile(prefix + ".json")
	if err != nil {
		return nil, err
	}
	out, err1 := os.ReadFile(prefix + ".out")
	said, err2 := os.ReadFile(prefix + ".err")
	e.stdout, e.stderr = string(out), string(said)
	return e, errors.Join(json.Unmarshal(usage, e), err1, err2)
}

// limits stop a command that takes too long or too much memory.
type limits struct {
	seconds float64
	mib     float64 // 0: none
}

// execute runs a command in a process group of its own, which is killed at a limit.
func (l limits) execute(ctx context.Context, c *exec.Cmd) (*execution, error) {
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.WaitDelay = 5 * time.Second // for descendants that keep the pipes open
	begun := time.Now()
	if err := c.Start(); err != nil {
		return nil, err
	}
	e := &execution{}
	ended, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		e.Killed = l.watch(ctx, c.Process.Pid, ended)
	}()
	err := c.Wait()
	close(ended)
	<-watched
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, err
	}
	status, _ := c.ProcessState.Sys().(syscall.WaitStatus)
	usage, _ := c.ProcessState.SysUsage().(*syscall.Rusage)
	e.Code = status.ExitStatus()
	if status.Signaled() {
		e.Code = 128 + int(status.Signal())
	}
	e.Wall = time.Since(begun).Seconds()
	e.CPU = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	e.MiB = float64(usage.Maxrss) / 1024
	e.stdout, e.stderr = stdout.String(), stderr.String()
	return e, ctx.Err()
}

// watch kills the process group of pid at a limit, and returns which.
func (l limits) watch(ctx context.Context, pid int, ended <-chan struct{}) string {
	every := time.NewTicker(100 * time.Millisecond)
	defer every.Stop()
	late := time.After(time.Duration(l.seconds * float64(time.Second)))
	for {
		why := ""
		select {
		case <-ended:
			return ""
		case <-ctx.Done():
			why = "interrupted"
		case <-late:
			why = fmt.Sprintf("killed after %.0f s", l.seconds)
		case <-every.C:
			if l.mib == 0 {
				continue // what is measured must not wait for a look at all processes
			}
			if now := residentMiB(pid); now > l.mib {
				why = fmt.Sprintf("killed at %.0f MiB", now)
			}
		}
		if why != "" {
			// cairn run forwards this to its job; the second signal ends all of it
			_ = syscall.Kill(-pid, syscall.SIGTERM)
			select {
			case <-ended:
			case <-time.After(15 * time.Second):
				_ = syscall.Kill(-pid, syscall.SIGKILL)
			}
			return why
		}
	}
}

// residentMiB is the memory of the largest process of a group.
func residentMiB(group int) (largest float64) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ") // after the name: state, parent, group, …
		fields := strings.Fields(rest)
		if len(fields) < 22 || fields[2] != strconv.Itoa(group) {
			continue
		}
		pages, _ := strconv.ParseFloat(fields[21], 64)
		largest = max(largest, pages*float64(os.Getpagesize())/(1<<20))
	}
	return largest
}
