package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/apps/catalog"
)

// commandLimits are those of every command on a trace.
var commandLimits = limits{seconds: 60, mib: 2048}

// An attempt is one command on a trace: steps that follow each other. Only the first one may
// refuse the trace. In a step, {trace} is the trace, {second} that of a second run, {out} a name
// for what the first step writes, {launch} the launcher with its ranks, {root} the repository.
type attempt struct {
	name  string
	steps []string
	// what must hold for the output of the last step; nil: that there is some
	holds func(w *work, output string) error
}

// attempts are the commands that read traces.
var attempts = []attempt{
	{name: "info", steps: []string{"{cairn} info {trace}"}},
	{name: "dump", steps: []string{"{cairn} dump {trace} | wc -l"}, holds: (*work).isCalls},
	{name: "program", steps: []string{"{cairn} program {trace}"}},
	{name: "clusters", steps: []string{"{cairn} clusters {trace}"}},
	{name: "placement", steps: []string{"{cairn} placement {trace}"}},
	{name: "replay", steps: []string{"{cairn} replay --speed max --check {trace} -- {launch}"}, holds: contains("made the same")},
	{name: "skeleton", steps: []string{
		"{cairn} skeleton {trace} -o {out} --scale 0.1",
		"make -s -C {out} CC=mpicc.{mpi} && cd {out} && timeout 60 {launch} ./skeleton && echo ended",
	}},
	{name: "perfetto", steps: []string{"{cairn} export {trace} -o {out}.perfetto", "{self} perfetto {out}.perfetto"}},
	{name: "otf2", steps: []string{"{root}/bin/cairn-otf2 export {trace} --format otf2 -o {out}", "otf2-print -Werror {out}/traces.otf2 | wc -l"}},
	{name: "parquet", steps: []string{
		"{cairn} export {trace} --format parquet -o {out}",
		`duckdb -c "COPY (SELECT count(*) FROM '{out}/calls.parquet') TO '/dev/stdout' (FORMAT csv, HEADER false)"`,
	}, holds: (*work).isCalls},
	{name: "pandas", steps: []string{
		"{cairn} export {trace} --format parquet -o {out}",
		"PYTHONPATH={root}/python python3 -c 'import cairn; print(len(cairn.load(\"{out}\").calls))'",
	}, holds: (*work).isCalls},
	{name: "simgrid", steps: []string{
		"{cairn} export {trace} --format simgrid -o {out}",
		"cd {out} && smpirun -platform platform.xml -hostfile hostfile -replay traces.txt && echo ended",
	}},
	{name: "compare", steps: []string{"{cairn} compare {trace} {second}"}},
	{name: "reduce-leads", steps: []string{"{cairn} reduce --leads {trace} -o {out}.cairn", "{cairn} analyze {out}.cairn -o {out}.report"}},
	{name: "reduce-histogram", steps: []string{"{cairn} reduce --histogram {trace} -o {out}.cairn", "{cairn} info {out}.cairn"}},
	{name: "redact", steps: []string{"{cairn} redact {trace} -o {out}.cairn", "{cairn} dump {out}.cairn >{out}.txt && { grep -c {root} {out}.txt || test $? = 1; }"}, holds: isNone},
}

// commands tries every command on the trace of the part "run".
func (w *work) commands(ctx context.Context) error {
	trace, err := traceOf(filepath.Join(w.dir, "trace"))
	if err != nil {
		return nil // which is a failed check of the part "run"
	}
	second, err := w.second(ctx)
	if err != nil {
		return err
	}
	scratch := filepath.Join(w.dir, "commands")
	if err := os.RemoveAll(scratch); err != nil {
		return err
	}
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return err
	}
	for _, a := range attempts {
		with := strings.NewReplacer("{trace}", trace, "{second}", second, "{out}", filepath.Join(scratch, a.name), "{root}", w.root,
			"{cairn}", w.root+"/bin/cairn", "{self}", w.self, "{mpi}", w.command.MPI, "{launch}", strings.Join(catalog.Launcher(w.command.MPI, w.ranksOf(trace)), " "))
		if err := w.try(ctx, a, with, scratch); err != nil {
			return err
		}
	}
	return nil
}

// second returns the trace of another run of the program, which the part "cpu" leaves.
func (w *work) second(ctx context.Context) (string, error) {
	folder := filepath.Join(w.dir, "trace-2")
	if trace, err := traceOf(folder); err == nil && isNewer(trace, filepath.Join(w.root, "bin", "cairn")) {
		return trace, nil
	}
	dir, err := w.in(ctx, "second")
	if err != nil {
		return "", err
	}
	if _, _, err := w.start(ctx, dir, folder); err != nil {
		return "", err
	}
	return traceOf(folder)
}

// isNewer reports whether a file was written after another one.
func isNewer(file, other string) bool {
	f, err := os.Stat(file)
	if err != nil {
		return false
	}
	o, err := os.Stat(other)
	return err == nil && f.ModTime().After(o.ModTime())
}

var ranksLine = regexp.MustCompile(`(?m)^ranks +(\d+)`)

// ranksOf returns the number of ranks of a trace, which for one of several jobs is not that of the
// command.
func (w *work) ranksOf(trace string) int {
	out, _ := w.cairn("info", trace).Output()
	if m := ranksLine.FindSubmatch(out); m != nil {
		n, _ := strconv.Atoi(string(m[1]))
		return n
	}
	return w.command.Ranks
}

// try does the steps of an attempt.
func (w *work) try(ctx context.Context, a attempt, with *strings.Replacer, dir string) error {
	var seconds float64
	for i, step := range a.steps {
		c := w.program.Shell(dir, "set -o pipefail; "+with.Replace(step))
		c.Env = append(c.Env, "PATH="+os.Getenv("HOME")+"/.cache/cairn/bin:/usr/bin:"+os.Getenv("PATH"))
		e, err := commandLimits.execute(ctx, c)
		if err != nil {
			return err
		}
		seconds += e.Wall
		last := i == len(a.steps)-1
		failure := w.judge(a, e, i == 0, last)
		if failure == nil && e.Code == 0 && !last {
			continue
		}
		c0 := check{Name: a.name, OK: failure == nil, Seconds: seconds}
		if failure != nil {
			c0.Detail = shorten(failure.Error())
		} else if e.Code != 0 {
			c0.Detail = "refused: " + shorten(e.stderr)
		}
		w.checks = append(w.checks, c0)
		return nil
	}
	return nil
}

// judge returns what is wrong with how a step ended. A command works, or refuses clearly: by an
// exit code and a message that is on the list.
func (w *work) judge(a attempt, e *execution, first, last bool) error {
	said := strings.TrimSpace(e.stderr)
	switch {
	case e.Killed != "":
		return fmt.Errorf("%s", e.Killed)
	case e.Code > 128 || strings.Contains(said, "goroutine "):
		return fmt.Errorf("it crashed: exit code %d: %s", e.Code, said)
	case e.Code != 0 && first && w.corpus.mayRefuse(a.name, said):
		return nil
	case e.Code != 0:
		return fmt.Errorf("exit code %d: %s", e.Code, tail(said+" "+e.stdout))
	case last && a.holds != nil:
		return a.holds(w, e.stdout)
	case last && strings.TrimSpace(e.stdout) == "" && a.name != "reduce-leads":
		return fmt.Errorf("it printed nothing")
	}
	return nil
}

func tail(text string) string {
	if len(text) > maxDetail {
		return "…" + text[len(text)-maxDetail:]
	}
	return text
}

// isCalls checks that a number is that of the calls of the trace.
func (w *work) isCalls(output string) error {
	trace, err := traceOf(filepath.Join(w.dir, "trace"))
	if err != nil {
		return err
	}
	out, err := w.cairn("info", trace).Output()
	if err != nil {
		return err
	}
	m := regexp.MustCompile(`(?m)^calls +(\d+)`).FindSubmatch(out)
	if m == nil {
		return errors.New("cairn info does not say how many calls the trace has")
	}
	if string(m[1]) != strings.TrimSpace(output) {
		return fmt.Errorf("%s calls, but the trace has %s", strings.TrimSpace(output), m[1])
	}
	return nil
}

func contains(text string) func(*work, string) error {
	return func(_ *work, output string) error {
		if !strings.Contains(output, text) {
			return fmt.Errorf("no %q in: %s", text, tail(output))
		}
		return nil
	}
}

func isNone(_ *work, output string) error {
	if strings.TrimSpace(output) != "0" {
		return fmt.Errorf("%s lines name a folder of this machine", strings.TrimSpace(output))
	}
	return nil
}
