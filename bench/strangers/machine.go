package strangers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/apps/catalog"
)

// maxDelayed is the part of its time that a rank without a fault may wait for a CPU in class A.
// wasDisturbed is why a run does not count otherwise.
const (
	maxDelayed   = 0.03
	wasDisturbed = "a rank without a fault waited for a CPU for more than 3% of its time"
)

// WasDisturbed reports whether a run was discarded because of other load.
func (r *Record) WasDisturbed() bool { return r.Discarded == wasDisturbed }

// shortest is the duration of a program in seconds: the faults have a period of parts of it.
const shortest = 1

// longest is the time after which a run is ended.
const longest = time.Minute

// A Machine makes runs, one at a time.
type Machine struct {
	Root     string // of the repository, which is built
	Dir      string // for runs; what it has is replaced
	Traces   string // folder of the traces of class B, which are kept
	LockFile string // see Lock
	Programs []*catalog.Program
	runs     int
}

// A report is the part of report.json that is used.
type report struct {
	Seconds float64         `json:"run_seconds"`
	Verdict verdict.Verdict `json:"verdict"`
}

// Run makes a run of a case. first is the record of its first run, or nil.
func (m *Machine) Run(ctx context.Context, c *Case, turn Turn, first *Record) (*Record, error) {
	r := &Record{Case: *c, Turn: turn}
	f, err := FaultOf(c.Class, c.Fault)
	if err != nil {
		return nil, err
	}
	if f.Possible != nil {
		if err := f.Possible(); err != nil {
			r.Impossible = fmt.Sprintf("%s: %v", f.Name, err)
			return r, nil
		}
	}
	if !quiet(ctx) {
		r.Discarded = fmt.Sprintf("the machine had other load for %v", mostWait)
		return r, ctx.Err()
	}
	if err := m.run(ctx, r, f, first); err != nil && r.Impossible == "" {
		r.Failed = firstLine(err.Error())
	}
	return r, ctx.Err()
}

// run places the program, runs it and reads its report.
func (m *Machine) run(ctx context.Context, r *Record, f *Fault, first *Record) error {
	ctx, stop := context.WithTimeout(ctx, longest)
	defer stop()
	p, command, err := m.program(r)
	if err != nil {
		return err
	}
	s, err := m.stage(ctx, r, f, p, command)
	if err != nil {
		return err
	}
	defer s.close()
	after := 500 * time.Millisecond // of a control before all others, in which nothing begins
	if first != nil {
		after = time.Duration(first.Lifetime * float64(time.Second))
	}
	strength := r.Strength
	if r.isControl() {
		strength = 0
	}
	err = s.run(ctx, r, f, time.Duration(r.Begin*float64(after)), strength)
	if errors.Is(err, errEnded) && r.isControl() {
		r.Discarded = tooShort(r.Program)
		return nil
	}
	if err != nil {
		return err
	}
	text, err := reportIn(s.out)
	if err != nil {
		return fmt.Errorf("%w (exit code %d): %s", err, r.Exit, lastLine(s.said.Bytes()))
	}
	found, err := parseReport(text)
	if err != nil {
		return err
	}
	if r.Exit != 0 && (r.isControl() || !f.Ends) {
		return fmt.Errorf("%s ends with exit code %d", r.Program, r.Exit)
	}
	r.Seconds, r.Text, r.Causes = found.Seconds, found.Verdict.Text, found.Verdict.Causes
	r.Discarded = discard(r, f)
	return nil
}

// errEnded means that a program is too short for a fault.
var errEnded = errors.New("the program ended before the fault began")

// program returns the program of a run, and its command.
func (m *Machine) program(r *Record) (*catalog.Program, *catalog.Command, error) {
	for _, p := range m.Programs {
		for i := range p.Commands {
			if p.Name == r.Program && p.Commands[i].MPI == r.MPI {
				return p, &p.Commands[i], nil
			}
		}
	}
	return nil, nil, fmt.Errorf("there is no program %s under %s", r.Program, r.MPI)
}

// discard returns why a run does not count, or "".
func discard(r *Record, f *Fault) string {
	switch {
	case r.isControl() && r.Seconds < shortest:
		return tooShort(r.Program)
	case !r.isControl() && (r.Effect < f.Least || f.Ends && r.Exit == 0):
		return fmt.Sprintf("%s had no effect on %s", f.Name, r.Program)
	case disturbed(r, f):
		return wasDisturbed
	}
	return ""
}

func tooShort(program string) string {
	return fmt.Sprintf("%s takes less than %d s here", program, shortest)
}

// disturbed reports whether, in class A, a rank without a fault waited for a CPU. That which is to
// have it shares its core with Cairn.
func disturbed(r *Record, f *Fault) bool {
	touched := f.Touched(r.Rank)
	if r.Class != Evidence || !r.isControl() && touched == nil {
		return false
	}
	for rank, d := range r.Delayed {
		if d > maxDelayed && rank != r.Rank && !slices.Contains(touched, rank) {
			return true
		}
	}
	return false
}

func parseReport(text []byte) (r report, err error) { return r, json.Unmarshal(text, &r) }

// reportIn returns the report of the largest run in a folder: a command may start several MPI jobs.
func reportIn(out string) ([]byte, error) {
	one, _ := filepath.Glob(filepath.Join(out, "report", "report.json"))
	several, _ := filepath.Glob(filepath.Join(out, "*", "report", "report.json"))
	var largest []byte
	for _, path := range append(one, several...) {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if len(text) > len(largest) {
			largest = text
		}
	}
	if largest == nil {
		return nil, errors.New("there is no report")
	}
	return largest, nil
}

// Lock waits until no other examination makes runs on this machine.
func (m *Machine) Lock(ctx context.Context) (unlock func(), err error) {
	f, err := os.OpenFile(m.LockFile, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	locked := make(chan error, 1)
	go func() { locked <- unix.Flock(int(f.Fd()), unix.LOCK_EX) }()
	select {
	case err = <-locked:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// A machine is quiet if its processors are idle for this part of a time.
const (
	idleFor  = 500 * time.Millisecond
	idlePart = 0.9
	mostWait = time.Minute
)

// quiet waits until the processors are idle, and reports whether they are.
func quiet(ctx context.Context) bool {
	for begun := time.Now(); time.Since(begun) < mostWait; {
		idle, all := processors()
		if !pause(idleFor, ctx.Done()) {
			return false
		}
		idleNow, allNow := processors()
		if allNow > all && (idleNow-idle)/(allNow-all) >= idlePart {
			return true
		}
	}
	return false
}

// processors returns the time that the processors were idle, and all of their time.
func processors() (idle, all float64) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(line) {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil || i > 8 { // the name; guests are counted twice
			continue
		}
		all += n
		if i == 4 || i == 5 { // idle, waiting for a disk
			idle += n
		}
	}
	return idle, all
}

// inGroup makes a command the first of a process group that ends with the context.
func inGroup(ctx context.Context, c *exec.Cmd) *exec.Cmd {
	grouped := exec.CommandContext(ctx, c.Path)
	grouped.Args, grouped.Dir, grouped.Env = c.Args, c.Dir, c.Env
	grouped.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	grouped.Cancel = func() error { return syscall.Kill(-grouped.Process.Pid, syscall.SIGTERM) }
	grouped.WaitDelay = 15 * time.Second
	return grouped
}
