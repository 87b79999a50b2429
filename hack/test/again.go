package main

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// mostAgain is how many failed tests of a step run once more. Where more fail, it is not because
// the machine had other load for a moment.
const mostAgain = 2

// again runs the tests of a step once more that failed, without the others beside them: tests that
// judge times and loads fail now and then on a machine that others use, and would hide what the
// rest of the suite has to say. What fails twice has failed. What passes now is unsteady: it is
// named at the end of the run with what it said the first time. It reports whether all passed.
func (e *executor) again(ctx context.Context, st stage, step string, log *log, events *events, r *result) bool {
	names := events.failed
	if !e.short || len(names) == 0 || len(names) > mostAgain || ctx.Err() != nil {
		return false
	}
	tests := map[string][]string{} // by package
	for _, name := range names {
		folder, test, found := strings.Cut(name, " ")
		if !found || strings.HasSuffix(name, didNotEnd) { // a package that does not compile, a process that ended
			return false
		}
		tests[folder] = append(tests[folder], test)
	}
	counted := events.counts
	events.failed = nil
	for _, folder := range slices.Sorted(maps.Keys(tests)) {
		command := only(step, folder, tests[folder])
		if command == "" || e.step(ctx, st, command, log, events, r) != nil || len(events.failed) > 0 {
			events.failed, events.counts = names, counted
			return false
		}
	}
	for _, name := range names {
		events.unsteady = append(events.unsteady, events.withReasons(name)...)
	}
	events.counts = counts{passed: counted.passed + len(names), failed: counted.failed - len(names), skipped: counted.skipped}
	e.say(st, fmt.Sprintf("%s: passed when run again", strings.Join(names, ", ")))
	return true
}

// packages is where the packages of `go test` begin.
var packages = regexp.MustCompile(` (\.|\$\()`)

// only returns the command that runs no more of a step than these tests of a package; "" of a step
// that cannot be divided.
func only(step, folder string, tests []string) string {
	run := "-run '^(" + strings.Join(tests, "|") + ")$'"
	if step == "hack/e2e.sh" {
		return step + " " + run
	}
	at := packages.FindStringIndex(step)
	if !goTest.MatchString(step) || at == nil {
		return ""
	}
	return step[:at[0]] + " " + run + " " + module + folder
}
