package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// runs compares a native run with a traced and verified one, and the program's own numbers with
// Cairn's. The control is a second native run: what differs between the two is not due to Cairn.
func (w *work) runs(ctx context.Context) error {
	native, before, err := w.native(ctx, "native")
	if err != nil {
		return err
	}
	w.record.Native = native.Wall
	_, again, err := w.native(ctx, "control")
	if err != nil {
		return err
	}
	w.check("control", before.text == again.text, "two native runs differ, too: %s", firstDifference(before.text, again.text))
	w.record.Lines, w.record.Compared = before.lines, before.compared
	w.check("compared", before.compared > 0, "none of the %d lines of the output are compared", before.lines)
	dir, err := w.in(ctx, "traced")
	if err != nil {
		return err
	}
	program, cairn, err := w.start(ctx, dir, filepath.Join(w.dir, "trace"), "--verify")
	if err != nil {
		return err
	}
	after := w.program.comparable(cairnless(program, dir, w.program.files), dir)
	w.check("exit", cairn.Code == native.Code, "exit code %d, natively %d: %s", cairn.Code, native.Code, cairn.stderr)
	w.check("output", before.text == after.text, "%s", firstDifference(before.text, after.text))
	w.summary(cairn)
	return w.analysis(ctx, cairnless(program, dir, w.program.files))
}

// native runs the program without Cairn in a folder of its own.
func (w *work) native(ctx context.Context, name string) (e *execution, o output, err error) {
	dir, err := w.in(ctx, name)
	if err != nil {
		return nil, o, err
	}
	if e, _, err = w.start(ctx, dir, ""); err != nil {
		return nil, o, err
	}
	if e.Code != 0 {
		return nil, o, fmt.Errorf("the native run ends with exit code %d (%s): %s", e.Code, e.Killed, shorten(e.stderr))
	}
	return e, w.program.comparable(cairnless(e, dir, w.program.files), dir), nil
}

var (
	verified = regexp.MustCompile(`(?m)^verify: all \d+ calls on \d+ ranks? agree`)
	traced   = regexp.MustCompile(`(?m)^trace:  .*\((\d+) calls of \d+ ranks? in (\d+) bytes\)`)
)

// summary checks what cairn run has printed.
func (w *work) summary(cairn *execution) {
	w.record.Calls, w.record.Bytes = 0, 0
	agree := len(verified.FindAllString(cairn.stdout, -1))
	traces := traced.FindAllStringSubmatch(cairn.stdout, -1)
	for _, t := range traces {
		calls, _ := strconv.Atoi(t[1])
		bytes, _ := strconv.Atoi(t[2])
		w.record.Calls += calls
		w.record.Bytes += bytes
	}
	w.check("verify", len(traces) > 0 && agree == len(traces), "%d of %d traces agree with the reference log: %s", agree, len(traces), cairn.stderr)
}

// traceOf returns the largest trace of a run: a command may start several MPI jobs.
func traceOf(folder string) (string, error) {
	one, _ := filepath.Glob(filepath.Join(folder, "trace.cairn"))
	several, _ := filepath.Glob(filepath.Join(folder, "*", "trace.cairn"))
	all := slices.Concat(one, several)
	if len(all) == 0 {
		return "", fmt.Errorf("no trace in %s", folder)
	}
	return slices.MaxFunc(all, func(a, b string) int { return int(size(a) - size(b)) }), nil
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// What an analysis may take.
const (
	analysisSeconds        = 1.0
	analysisSecondsPerCall = 2e-6
)

// analysis analyzes the trace once more, to measure it, and compares its findings with what the
// program has printed.
func (w *work) analysis(ctx context.Context, output string) error {
	trace, err := traceOf(filepath.Join(w.dir, "trace"))
	if err != nil {
		w.check("analysis", false, "%v", err)
		return nil
	}
	report := filepath.Join(w.dir, "report")
	if err := os.RemoveAll(report); err != nil {
		return err
	}
	e, err := limits{seconds: 120, mib: 4096}.execute(ctx, w.cairn("analyze", trace, "-o", report))
	if err != nil {
		return err
	}
	w.record.Analysis, w.record.Sentence, w.record.Claims = *e, "", nil
	w.check("analysis", e.Code == 0 && e.Killed == "", "exit code %d %s: %s", e.Code, e.Killed, e.stderr)
	limit := analysisSeconds + analysisSecondsPerCall*float64(w.record.Calls)
	w.check("analysis-time", e.CPU <= limit, "%.2f s of CPU for %d calls, more than %.2f s", e.CPU, w.record.Calls, limit)
	text, err := os.ReadFile(filepath.Join(report, "report.json"))
	if err != nil {
		return nil // the analysis has failed, as its check says
	}
	f, err := parseFindings(text)
	if err != nil {
		return err
	}
	w.record.Sentence = f.Verdict.Text
	w.check("verdict", f.Verdict.Text != "" && !strings.HasPrefix(f.Verdict.Text, "There is no verdict"), "%s", f.Verdict.Text)
	for _, rule := range w.program.sentence {
		w.check("sentence", rule.holds(f.Verdict.Text), "expected: %s; the sentence: %s", rule, f.Verdict.Text)
	}
	for _, s := range w.program.says {
		w.claim(s, f, output)
	}
	return nil
}

// claim compares a number of the program with Cairn's.
func (w *work) claim(s *claim, f *findings, output string) {
	name := s.check()
	own, err := s.find(output)
	if err != nil {
		w.check(name, false, "%v", err)
		return
	}
	cairn, err := f.quantity(s.quantity)
	if err != nil {
		w.check(name, false, "%v", err)
		return
	}
	ok, _ := s.agrees(own, cairn)
	word := "agree"
	if !ok {
		word = "disagree"
	}
	line := fmt.Sprintf("%s %.4g; Cairn's %s %.4g: %s (%s)", s.name, own, s.quantity, cairn, word, s.rule)
	w.record.Claims = append(w.record.Claims, line)
	w.check(name, ok, "%s", line)
}

// output is what must be equal in two runs.
type output struct {
	text     string
	lines    int // that were written and are not empty
	compared int // of them
}

var number = regexp.MustCompile(`[-+]?[0-9]+([.:][0-9]*)*([eE][-+]?[0-9]+)?`)

// comparable returns all that a program has written in a folder, without what differs between any
// two runs.
func (p *program) comparable(written, dir string) output {
	o := output{}
	var kept []string
	for _, line := range strings.Split(strings.ReplaceAll(written, dir, "."), "\n") {
		line = strings.TrimRight(line, " \r")
		if line == "" {
			continue
		}
		o.lines++
		if slices.ContainsFunc(p.differs, func(r *regexp.Regexp) bool { return r.MatchString(line) }) {
			continue
		}
		o.compared++
		kept = append(kept, p.withoutMeasures(line))
	}
	if p.anyOrder {
		slices.Sort(kept)
	}
	o.text = strings.Join(kept, "\n")
	return o
}

// withoutMeasures returns a line without the numbers that differ between any two runs: those of a
// matching line, outside of the match.
func (p *program) withoutMeasures(line string) string {
	for _, r := range p.measures {
		if at := r.FindStringIndex(line); at != nil {
			all := number.ReplaceAllString(line[:at[0]], " N ") + line[at[0]:at[1]] + number.ReplaceAllString(line[at[1]:], " N ")
			// a number of another width moves what follows
			return strings.Join(strings.Fields(all), " ")
		}
	}
	return line
}

// cairnless is all that a program has written: its standard output and its files.
func cairnless(e *execution, dir string, files []string) string {
	all := e.stdout
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			text = []byte(err.Error())
		}
		all += fmt.Sprintf("\n== %s\n%s", name, text)
	}
	return all
}

// firstDifference names the first lines that differ.
func firstDifference(before, after string) string {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d: natively %q, traced %q", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines natively, %d traced", len(a), len(b))
}
