package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cairn-mpi/cairn/apps/catalog"
)

// parts are what is done with a case. Each can be redone alone.
var parts = []string{"run", "cpu", "commands"}

// A driver runs cases.
type driver struct {
	corpus *corpus
	root   string // the repository
	self   string // this executable
}

func newDriver(c *corpus) (*driver, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for _, needed := range []string{"bin/cairn", "bin/cairn-otf2", "lib/libcairn-mpich.so"} {
		if _, err := os.Stat(filepath.Join(root, needed)); err != nil {
			return nil, fmt.Errorf("%w: run make build bin/cairn-otf2 in the root of the repository", err)
		}
	}
	self, err := os.Executable()
	return &driver{corpus: c, root: root, self: self}, err
}

// A record is what is known about a case: result.json in its folder.
type record struct {
	Version  string             `json:"version"`
	Checks   map[string][]check `json:"checks"` // by part
	Native   float64            `json:"native_seconds"`
	Lines    int                `json:"lines"`    // of the native output
	Compared int                `json:"compared"` // lines of it that are compared
	Calls    int                `json:"calls"`
	Bytes    int                `json:"bytes"`
	Sentence string             `json:"sentence"`
	Analysis execution          `json:"analysis"`
	Claims   []string           `json:"claims"`
	Ratio    *ratio             `json:"ratio"`
}

// A check is something that must hold.
type check struct {
	Name    string  `json:"name"`
	OK      bool    `json:"ok"`
	Detail  string  `json:"detail,omitempty"` // what differs, or how a command refused
	Seconds float64 `json:"seconds,omitempty"`
}

// ratio is the CPU time with the tracer, divided by that without.
type ratio struct {
	Pairs  int     `json:"pairs"`
	Value  float64 `json:"value"`
	Lower  float64 `json:"lower"`
	Upper  float64 `json:"upper"`
	Native float64 `json:"native"` // seconds of CPU
}

func loadRecord(e testCase) (*record, error) {
	r := &record{Checks: map[string][]check{}}
	text, err := os.ReadFile(filepath.Join(results, e.name(), "result.json"))
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	return r, json.Unmarshal(text, r)
}

func (r *record) save(e testCase) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(results, e.name(), "result.json"), text, 0o644)
}

// run does the given parts of a case.
func (d *driver) run(ctx context.Context, e testCase, only []string) error {
	w := &work{driver: d, testCase: e, dir: filepath.Join(d.root, results, e.name())}
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return err
	}
	var err error
	if w.record, err = loadRecord(e); err != nil {
		return err
	}
	if w.record.Version, err = e.program.InstalledVersion(); err != nil {
		return err
	}
	for _, part := range parts {
		if !slices.Contains(only, part) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s %s: %s\n", time.Now().Format(time.TimeOnly), e.name(), part)
		w.checks = nil
		do := map[string]func(context.Context) error{"run": w.runs, "cpu": w.cpu, "commands": w.commands}[part]
		if err := do(ctx); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil { // the other programs are tried all the same
			w.check("part-"+part, false, "%v", err)
		}
		w.record.Checks[part] = w.checks
		if err := w.record.save(e); err != nil {
			return err
		}
	}
	return nil
}

// work is a case that is being run.
type work struct {
	*driver
	testCase
	dir    string // absolute
	record *record
	checks []check
}

// check records a check. The detail is what is shown if it fails.
func (w *work) check(name string, ok bool, format string, args ...any) {
	c := check{Name: name, OK: ok}
	if !ok {
		c.Detail = shorten(fmt.Sprintf(format, args...))
	}
	w.checks = append(w.checks, c)
}

// maxDetail is the length of the text that is kept of a failure.
const maxDetail = 300

func shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxDetail {
		text = text[:maxDetail] + "…"
	}
	return text
}

// in returns a fresh folder with the inputs of the program, and all that is prepared in it.
func (w *work) in(ctx context.Context, name string) (string, error) {
	dir := filepath.Join(w.dir, name)
	return dir, w.program.Place(dir, w.command.MPI, false, func(c *exec.Cmd) error {
		e, err := limits{seconds: 120}.execute(ctx, c)
		if err == nil && e.Code != 0 {
			err = fmt.Errorf("exit code %d: %s", e.Code, shorten(e.stderr))
		}
		return err
	})
}

// start runs the program in a folder, traced if trace names a folder, and returns how the launcher
// and cairn ended.
func (w *work) start(ctx context.Context, dir, trace string, options ...string) (program, cairn *execution, err error) {
	to := filepath.Join(dir, ".measured")
	line := strings.Join(append([]string{w.self, "measure", "-o", to}, catalog.Launcher(w.command.MPI, w.command.Ranks)...), " ") + " " + w.command.Line
	if trace != "" {
		line = fmt.Sprintf("%s/bin/cairn run --force -o %s %s -- %s", w.root, trace, strings.Join(options, " "), line)
	}
	cairn, err = limits{seconds: 300}.execute(ctx, w.program.Shell(dir, "exec "+line+" </dev/null"))
	if err != nil {
		return nil, nil, err
	}
	program, err = loadExecution(to)
	if err != nil {
		return nil, cairn, fmt.Errorf("the program left no usage (%s): %s", cairn.Killed, shorten(cairn.stderr))
	}
	return program, cairn, nil
}

// cairn returns a command of cairn, run in the folder of the case.
func (w *work) cairn(args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(w.root, "bin", "cairn"), args...)
	c.Dir, c.Env = w.dir, w.program.Environment()
	return c
}
