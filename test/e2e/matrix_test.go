//go:build e2e

package e2e

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A scenario is a row of the matrix: what happens to a job, and what a user must then see. Every
// row also compares the application's exit code with the one without Cairn.
type scenario struct {
	name     string
	expected string
	// quick rows are part of `make test`; the others run with `make e2e-matrix` only.
	quick bool
	// alone rows run after the others, one at a time: they need the whole machine.
	alone bool
	// run makes it happen and returns what was observed.
	run func(t *testing.T) string
}

// row is what the table prints of a scenario.
type row struct {
	scenario
	seen    string
	failed  bool
	seconds float64
}

func (r row) mark() string {
	if r.failed {
		return "FAILED"
	}
	return "ok"
}

// TestMatrix runs the scenarios, some at a time, and prints the table. CAIRN_E2E_MATRIX=all runs
// all of them, another value those whose names contain it; without it the quick ones run, beside
// the other tests.
func TestMatrix(t *testing.T) {
	t.Parallel()
	chosen := slices.DeleteFunc(slices.Clone(scenarios), func(s scenario) bool {
		switch which := os.Getenv("CAIRN_E2E_MATRIX"); which {
		case "":
			return !s.quick
		case "all":
			return false
		default:
			return !strings.Contains(s.name, which)
		}
	})
	require.NotEmpty(t, chosen)
	var mu sync.Mutex
	var rows []row
	run := func(t *testing.T, alone bool) {
		for _, s := range chosen {
			if s.alone != alone {
				continue
			}
			t.Run(strings.ReplaceAll(s.name, " ", "-"), func(t *testing.T) {
				if !alone {
					t.Parallel()
				}
				started := time.Now()
				r := row{scenario: s, seen: "nothing: the test stopped before"}
				defer func() {
					r.failed, r.seconds = t.Failed(), time.Since(started).Seconds()
					mu.Lock()
					defer mu.Unlock()
					rows = append(rows, r)
					fmt.Printf("%s: %s (%.0f s, %s)\n", r.name, r.seen, r.seconds, r.mark())
				}()
				r.seen = s.run(t)
			})
		}
	}
	t.Run("rows", func(t *testing.T) { run(t, false) })
	t.Run("alone", func(t *testing.T) { run(t, true) })
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Compare(index(chosen, a.name), index(chosen, b.name))
	})
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "SCENARIO\tEXPECTED\tSEEN\tSECONDS\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%.0f\t%s\n", r.name, r.expected, r.seen, r.seconds, r.mark())
	}
	require.NoError(t, w.Flush())
	fmt.Print("\n", table.String(), "\n")
}

func index(scenarios []scenario, name string) int {
	return slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == name })
}

// matrixStencil is the job of most rows: 4 ranks on two nodes, of which rank 2 is slow.
func matrixStencil(name string, changes ...change) spec {
	return spec{name: name, namespace: "e2e", stack: stacks[0], program: "stencil",
		arguments: []string{"--iterations", "60", "--work-us", "5000", "--slow-rank", "2", "--slow-factor", "3"}, changes: changes}
}

// long is a stencil that runs for so many seconds, about.
func long(name string, seconds int, changes ...change) spec {
	s := matrixStencil(name, changes...)
	s.arguments[1] = fmt.Sprint(seconds * 60)
	return s
}

// begin applies a job; it is deleted at the end if all went well.
func begin(t testing.TB, s spec) {
	t.Helper()
	apply(t, s.manifest())
	t.Cleanup(func() {
		if !t.Failed() {
			_, _ = tryKubectl("", "-n", s.namespace, "delete", "tracedmpijob", s.name, "--wait=false")
		}
	})
}

// end waits for the end of a job, whatever it is, and compares the launcher's exit code with the
// wanted one.
func end(t *testing.T, s spec, wanted int) *job {
	t.Helper()
	j := await(t, s.namespace, s.name, 15*time.Minute, "the end", func(j *job) bool { return j.Status.CompletionTime != "" })
	last := -1
	for _, a := range j.Status.Attempts {
		if a.ExitCode != nil {
			last = *a.ExitCode
		}
	}
	assert.Equal(t, wanted, last, "exit code of the application; %+v", j.Status)
	return j
}

// seenOf sums a job up for the table.
func seenOf(j *job) string {
	ready := j.condition("Ready")
	collected := j.condition("TraceCollected")
	seen := fmt.Sprintf("%s, %s", ready.Reason, collected.Reason)
	if j.Status.RunCount != 1 {
		seen += fmt.Sprintf(", %d runs", j.Status.RunCount)
	}
	return seen
}

// wholeReport asserts that the job has a report of all its ranks.
func wholeReport(t *testing.T, j *job) string {
	t.Helper()
	assert.Equal(t, "True", j.condition("Ready").Status, "%+v", j.Status)
	assert.Equal(t, "AllRanks", j.condition("TraceCollected").Reason, "%+v", j.condition("TraceCollected"))
	assert.Equal(t, "True", j.condition("Analyzed").Status, "%+v", j.condition("Analyzed"))
	assert.NotEmpty(t, j.Status.Verdict)
	return seenOf(j)
}

// awaitReason waits for a reason of a condition.
func awaitReason(t *testing.T, s spec, kind string, limit time.Duration, reasons ...string) *job {
	t.Helper()
	return await(t, s.namespace, s.name, limit, kind+" "+strings.Join(reasons, " or "), func(j *job) bool {
		return slices.Contains(reasons, j.condition(kind).Reason)
	})
}
