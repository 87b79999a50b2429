package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

type state string

const (
	passed state = "passed"
	failed state = "FAILED"
	notRun state = "not run"
)

// A result is what came of a stage.
type result struct {
	stage  stage
	state  state
	wall   time.Duration
	cpu    float64 // seconds of CPU, as measured
	slow   float64 // how many times more CPU a fixed amount of work took meanwhile than on the reference machine
	counts counts
	tests  []test // the most expensive ones, the longest first
	// wrong and unsteady are names of tests, each followed by its first lines: those that failed,
	// and those that passed when they ran again
	wrong, unsteady []string
}

// counts are numbers of tests.
type counts struct{ passed, failed, skipped int }

// A test is a test function and how long it took.
type test struct {
	name    string // package and function
	elapsed time.Duration
}

// quiet is the CPU time on the machine that the budgets were measured on. A machine that computes
// faster gets no less: half of the tests' time is the kernel's, which does not become faster.
func (r result) quiet() float64 { return r.cpu / max(r.slow, 1) }

// tolerance is how far a stage may exceed its budget. The same tests took up to 1.7 times their
// budget on a machine that others used meanwhile, since MPI ranks poll while they wait.
const tolerance = 2.0

func (r result) overBudget() bool {
	return r.stage.budget > 0 && r.state == passed && r.quiet() > tolerance*r.stage.budget
}

// table is the results as text, with the wall time of all.
func table(results []result, wall time.Duration) string {
	var b strings.Builder
	var cpu float64
	fmt.Fprintf(&b, "\n%-8s %-8s %7s %7s %7s %7s   %s\n", "stage", "", "wall s", "CPU s", "quiet s", "budget", "tests")
	for _, r := range results {
		if r.state == notRun {
			fmt.Fprintf(&b, "%-8s %-8s\n", r.stage.name, r.state)
			continue
		}
		budget := "-"
		if r.stage.budget > 0 {
			budget = fmt.Sprintf("%.0f", r.stage.budget)
		}
		tests := ""
		if c := r.counts; c != (counts{}) {
			tests = fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
		}
		fmt.Fprintf(&b, "%-8s %-8s %7.0f %7.0f %7.0f %7s   %s\n", r.stage.name, r.state, r.wall.Seconds(), r.cpu, r.quiet(), budget, tests)
		cpu += r.cpu
	}
	fmt.Fprintf(&b, "%-17s %7.0f %7.0f\n", "all", wall.Seconds(), cpu)
	for _, r := range results {
		if len(r.unsteady) > 0 {
			fmt.Fprintf(&b, "\nfailed in stage %s, and passed when run again:\n  %s\n", r.stage.name, strings.Join(r.unsteady, "\n  "))
		}
	}
	return b.String()
}

// verdict returns what is wrong with the results, or nil. enforce: a stage must not exceed its
// budget.
func verdict(results []result, enforce bool) error {
	var wrong []string
	for _, r := range results {
		switch {
		case r.state == failed:
			wrong = append(wrong, fmt.Sprintf("stage %s failed: out/test/%s.log", r.stage.name, r.stage.name))
			for _, name := range r.wrong {
				wrong = append(wrong, "  "+name)
			}
		case r.overBudget() && enforce:
			wrong = append(wrong, r.excess())
		}
	}
	if len(wrong) == 0 && slices.ContainsFunc(results, func(r result) bool { return r.state == notRun }) {
		wrong = append(wrong, "interrupted")
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%s", strings.Join(wrong, "\n      "))
}

// excess names the tests that a stage over its budget spends most on.
func (r result) excess() string {
	text := fmt.Sprintf("stage %s takes %.0f CPU seconds, more than %.0f times its budget of %.0f", r.stage.name, r.quiet(), tolerance, r.stage.budget)
	for i, t := range r.tests[:min(3, len(r.tests))] {
		if i == 0 {
			text += "; its most expensive tests:"
		}
		text += fmt.Sprintf("\n        %-7s %s", fmt.Sprintf("%.1f s", t.elapsed.Seconds()), t.name)
	}
	return text
}
