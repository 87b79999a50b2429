package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// An event is one of `go test -json` (go doc test2json).
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// events reads a stage's output: events of `go test -json`, and lines of other commands. It counts
// the tests and remembers how long each took.
type events struct {
	say    func(line string)
	counts counts
	tests  []test
	failed []string
	// unsteady tests failed and passed when they ran again, each followed by its first lines
	unsteady []string
	why      map[string][]string // by name of a failed test: its first lines, with those of its parts
	output   map[string][]string // of tests that run, and of packages
	cut      map[string]bool     // whether the last line of output has no end yet
}

func newEvents(say func(string)) *events {
	return &events{say: say, why: map[string][]string{}, output: map[string][]string{}, cut: map[string]bool{}}
}

// long is how many seconds a test takes that is shown alone: its package may take minutes.
const long = 10

// module is cut off in front of names.
const module = "github.com/cairn-mpi/cairn/"

func (e *events) line(line string) {
	var v event
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &v) != nil || v.Action == "" {
		e.say(line)
		return
	}
	name := strings.TrimSuffix(strings.TrimPrefix(v.Package, module)+" "+v.Test, " ")
	switch v.Action {
	case "build-output": // of the compiler
		e.say(strings.TrimRight(v.Output, "\n"))
	case "output":
		e.text(name, v.Output)
	case "pass", "fail", "skip":
		e.ended(name, v)
		delete(e.output, name)
		delete(e.cut, name)
	}
}

// text adds output to that of a test or a package. test2json cuts long lines: a piece without an
// end of line goes on in the next one.
func (e *events) text(name, output string) {
	lines := e.output[name]
	if e.cut[name] {
		lines[len(lines)-1] += strings.TrimRight(output, "\n")
	} else {
		lines = append(lines, strings.TrimRight(output, "\n"))
	}
	e.output[name], e.cut[name] = lines, !strings.HasSuffix(output, "\n")
}

// ended counts a test or a package that ended. The output is shown of those that failed.
func (e *events) ended(name string, v event) {
	if v.Action == "fail" {
		for _, line := range e.output[name] {
			e.say(line)
			e.explain(name, line)
		}
	}
	switch {
	case v.Test == "":
		if v.Action == "fail" {
			e.unended(name)
		}
		if v.Action != "skip" { // a package without tests
			e.say(fmt.Sprintf("%-4s %s %.1f s", map[string]string{"pass": "ok", "fail": "FAIL"}[v.Action], name, v.Elapsed) + e.cached(name))
		}
		return
	case strings.Contains(v.Test, "/"): // part of a test that is counted
		return
	}
	if v.Elapsed >= long || v.Action == "fail" {
		e.say(fmt.Sprintf("     %s %s %.1f s", name, v.Action, v.Elapsed))
	}
	switch v.Action {
	case "pass":
		e.counts.passed++
	case "fail":
		e.counts.failed++
		e.failed = append(e.failed, name)
	case "skip":
		e.counts.skipped++
	}
	e.tests = append(e.tests, test{name, time.Duration(v.Elapsed * float64(time.Second))})
}

// maxWhy is how many lines of a failed test the end of the suite's output repeats. Each has at most
// maxWhyLine bytes.
const maxWhy, maxWhyLine = 20, 300

// explain keeps a line of a failed test, or of a part of it, unless it only names the test.
func (e *events) explain(name, line string) {
	folder, test, _ := strings.Cut(name, " ")
	test, _, _ = strings.Cut(test, "/")
	top, text := strings.TrimSuffix(folder+" "+test, " "), strings.TrimSpace(line)
	if text == "" || strings.HasPrefix(text, "=== ") || strings.HasPrefix(text, "--- ") || len(e.why[top]) == maxWhy {
		return
	}
	e.why[top] = append(e.why[top], text[:min(len(text), maxWhyLine)])
}

// wrong returns the names of the tests that failed, each followed by its first lines.
func (e *events) wrong() (lines []string) {
	for _, name := range e.failed {
		lines = append(lines, e.withReasons(name)...)
	}
	return lines
}

// withReasons returns the name of a test that failed, followed by its first lines.
func (e *events) withReasons(name string) []string {
	lines := []string{name}
	for _, line := range e.why[strings.TrimSuffix(name, didNotEnd)] {
		lines = append(lines, "    "+line)
	}
	return lines
}

// didNotEnd follows the name of a test that was killed, or that ended the process.
const didNotEnd = ": it did not end"

// unended counts the tests of a package that failed before they ended: the package was killed, or
// ended itself. Without one it is the package itself that failed, unless one of its tests did.
func (e *events) unended(folder string) {
	found := slices.ContainsFunc(e.failed, func(name string) bool { return strings.HasPrefix(name, folder+" ") })
	for _, name := range slices.Sorted(maps.Keys(e.output)) {
		if !strings.HasPrefix(name, folder+" ") {
			continue
		}
		for _, line := range e.output[name] {
			e.say(line)
			e.explain(name, line)
		}
		delete(e.output, name)
		if strings.Contains(strings.TrimPrefix(name, folder), "/") { // part of a test that is counted
			continue
		}
		e.counts.failed++
		e.failed = append(e.failed, name+didNotEnd)
		found = true
	}
	if !found {
		e.failed = append(e.failed, folder)
	}
}

// cached says that a package's result is an earlier one: its tests have not run.
func (e *events) cached(name string) string {
	if slices.ContainsFunc(e.output[name], func(line string) bool { return strings.HasSuffix(line, "(cached)") }) {
		return " (cached)"
	}
	return ""
}

// slowest returns the tests, the longest first.
func (e *events) slowest() []test {
	slices.SortStableFunc(e.tests, func(a, b test) int { return int(b.elapsed - a.elapsed) })
	return e.tests
}
