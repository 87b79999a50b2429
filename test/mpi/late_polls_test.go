//go:build mpi

package mpi

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// lateness is what these tests want of report.json.
type lateness struct {
	Ranks []struct {
		Rank        int     `json:"rank"`
		Computation float64 `json:"computation_seconds"`
		Waiting     float64 `json:"waiting_seconds"`
		Caused      float64 `json:"caused_waiting_seconds"`
		Path        float64 `json:"path_seconds"`
		DelayCost   float64 `json:"delay_cost_seconds"`
	} `json:"ranks"`
	Verdict struct {
		Blames string `json:"blames"`
		Rank   int    `json:"rank"`
	} `json:"verdict"`
}

func readLateness(t testing.TB, dir string) lateness {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "report", "report.json"))
	require.NoError(t, err)
	var r lateness
	require.NoError(t, json.Unmarshal(text, &r))
	return r
}

// compileLate builds a program of the folder late.
func compileLate(t *testing.T, implementation, name string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), name)
	out, err := exec.Command("mpicc."+implementation, "-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-o", program, "late/"+name+".c").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// printedSeconds reads "word SECONDS" from what a program printed.
func printedSeconds(t testing.TB, stdout, word string) float64 {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + word + ` (\S+)$`).FindStringSubmatch(stdout)
	require.NotNil(t, m, stdout)
	seconds, err := strconv.ParseFloat(m[1], 64)
	require.NoError(t, err)
	return seconds
}

// mostOfIt is the share of the planted lateness that must be found as the poller's waiting, and of
// its work as computation: on a busy machine the poller is sometimes late itself, and loses its
// CPU while it works.
const mostOfIt = 0.75

// TestPollsAreWaiting: rank 1 of late/polls.c waits for rank 0, for all polling functions and all
// ways to pass the time between two polls. It waits, does not compute, and the path goes through
// the sender. A rank that computes between two polls does not wait.
func TestPollsAreWaiting(t *testing.T) {
	programs := map[string]string{}
	for _, implementation := range implementations {
		programs[implementation] = compileLate(t, implementation, "polls")
	}
	for i, how := range []string{
		"tight", "sleep50us", "sleep1ms", "sleep10ms", "backoff", "yield", "queries", "iprobe", "improbe", "status", "testall", "wait",
		"work", "work10ms",
	} {
		for _, implementation := range shimtest.ImplementationsOf(i) {
			t.Run(implementation+"/"+how, func(t *testing.T) {
				command := launch(implementation, 2, "polls", how)
				command[len(command)-2] = programs[implementation]
				oneOfThree(t, func(t testing.TB) {
					run := trace(t, nil, command...)
					require.Equal(t, 0, run.code, "%s\n%s", run.stdout, run.stderr)
					r := readLateness(t, run.dir)
					if strings.HasPrefix(how, "work") {
						assert.Greater(t, r.Ranks[1].Computation, mostOfIt*printedSeconds(t, run.stdout, "worked"))
						return
					}
					assertWaitsForRank0(t, r, printedSeconds(t, run.stdout, "planted"), 0.1)
				})
			})
		}
	}
}

// computesLonger are the kinds of causes that name a rank for its computation: longer than the
// others', or alone.
var computesLonger = []string{"excess", "serialization"}

// assertWaitsForRank0: rank 1 computes for a share of the planted time at most.
func assertWaitsForRank0(t testing.TB, r lateness, planted, computes float64) {
	t.Helper()
	assert.Greater(t, r.Ranks[1].Waiting, mostOfIt*planted)
	assert.Less(t, r.Ranks[1].Computation, computes*planted, "a poller does not compute")
	assert.Greater(t, r.Ranks[0].Path, mostOfIt*planted, "the path goes through the sender")
	if r.Verdict.Blames != "cpus" { // true on a busy machine
		assert.Contains(t, computesLonger, r.Verdict.Blames)
		assert.Equal(t, 0, r.Verdict.Rank)
	}
}

// TestPythonPollsAreWaiting: the same for mpi4py, with sleeps of Python's.
func TestPythonPollsAreWaiting(t *testing.T) {
	for _, how := range []string{"sleep", "backoff"} {
		t.Run(how, func(t *testing.T) {
			command := launch("openmpi", 2, "")
			command[len(command)-1] = python
			oneOfThree(t, func(t testing.TB) {
				r := trace(t, nil, append(command, "python/polls.py", how)...)
				require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
				assertWaitsForRank0(t, readLateness(t, r.dir), 0.3, 0.25) // Python itself computes
			})
		})
	}
}
