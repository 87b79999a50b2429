//go:build mpi

package mpi

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	cairntrace "github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// limit is how long a run may take: what hangs is killed, and the test fails.
const limit = 2 * time.Minute

// clustered traces a program in clustered mode.
func clustered(t *testing.T, flags []string, command ...string) result {
	t.Helper()
	return clusteredBy(t, filepath.Join(shimtest.Root(), "bin", "cairn"), flags, command...)
}

// clusteredBy is clustered with another cairn.
func clusteredBy(t *testing.T, binary string, flags []string, command ...string) result {
	t.Helper()
	done := make(chan result, 1)
	dir := filepath.Join(t.TempDir(), "out")
	arguments := append([]string{"run", "-o", dir, "--mode", "clustered"}, flags...)
	arguments = append(append(arguments, "--", "timeout", "-k", "5", "100"), command...)
	go func() { done <- cairnAt(t, binary, dir, arguments...) }()
	select {
	case r := <-done:
		require.NotContains(t, []int{124, 137}, r.code, "it hung:\n%s", r.stderr)
		return r
	case <-time.After(limit):
		t.Fatal("cairn run hangs")
		return result{}
	}
}

func openTrace(t *testing.T, dir string) *cairntrace.Reader {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "trace.cairn"))
	require.NoError(t, err)
	r, err := cairntrace.Open(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	return r
}

// outcomes are the states of all votes in short: A, C, L, E.
func outcomes(r *cairntrace.Reader) string {
	var s strings.Builder
	for _, v := range r.Meta().Clustering.Votes {
		s.WriteByte("ACLE"[v.State])
	}
	return s.String()
}

// The votes of a program that repeats, up to the first one by which ranks have the times of a lead.
// On a busy machine a compressor may answer late: then there are more votes until then.
const clusters = "^A+(CL*A+)*CL+"

// Two phases: the ranks are clustered in each, and between two votes of a phase only leads
// keep times. The calls of the trace are those of the program.
func TestClusteredPhases(t *testing.T) {
	t.Parallel()
	iterations := "5000" // on a busy machine the compressor is late for the first votes
	if testing.Short() {
		iterations = "3000"
	}
	for _, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			r := clustered(t, []string{"--verify"}, launch(implementation, 4, "phases", "--work-us", "100", "--iterations", iterations)...)
			require.Equal(t, 0, r.code, r.stderr)
			require.Contains(t, r.stdout, "agree with the reference log")
			trace := openTrace(t, r.dir)
			states := outcomes(trace)
			require.Regexp(t, clusters+"A+(CL*A+)*CL+(A+(CL*)?)*$", states)
			for _, v := range trace.Meta().Clustering.Votes {
				if v.State == cairntrace.VoteClustered {
					require.Equal(t, []int{0, 1}, v.Leads)
				}
			}
			votes := strings.Count(states, "L")
			for _, thread := range trace.Threads().All() {
				require.Len(t, thread.CallsAtVotes, len(states))
				if thread.Rank < 2 {
					require.Empty(t, thread.Extrapolations)
				} else {
					requireFollows(t, thread, votes)
				}
			}
			require.Contains(t, cairn(t, "", "info", filepath.Join(r.dir, "trace.cairn")).stdout, "clustered;")
		})
	}
}

// requireFollows requires that a thread follows, and at most in the intervals for which one led.
func requireFollows(t *testing.T, thread cairntrace.Thread, led int) {
	t.Helper()
	require.LessOrEqual(t, len(thread.Extrapolations), led)
	require.True(t, follows(thread, led), "%d of %d intervals", len(thread.Extrapolations), led)
}

// follows reports whether a thread has the times of its lead in more than a sixth of the intervals
// for which one led: it has its own where an answer was late, often on a busy machine.
func follows(thread cairntrace.Thread, led int) bool { return len(thread.Extrapolations) > led/6 }

// leadsOf returns the ranks that led in a vote.
func leadsOf(trace *cairntrace.Reader) map[int]bool {
	lead := map[int]bool{}
	for _, v := range trace.Meta().Clustering.Votes {
		for _, rank := range v.Leads {
			lead[rank] = true
		}
	}
	return lead
}

// allFollow reports whether all threads of ranks that do not lead follow.
func allFollow(trace *cairntrace.Reader) bool {
	lead, led := leadsOf(trace), strings.Count(outcomes(trace), "L")
	for _, thread := range trace.Threads().All() {
		if !lead[thread.Rank] && !follows(thread, led) {
			return false
		}
	}
	return true
}

// Whatever the ranks do, the job ends as it would otherwise, and the trace has all calls. With
// -short each case runs under one of the two MPIs.
func TestClusteredNeverHangs(t *testing.T) {
	t.Parallel()
	for i, test := range []struct {
		name      string
		arguments []string
		flags     []string
		code      int
		// a regular expression; how far apart votes are depends on what they take, so the last
		// ones may not come
		states string
	}{
		{name: "a rank diverges", arguments: []string{"--diverge", "2"}, states: clusters + "A+(CL*A*)*$"},
		{name: "a rank leaves early", arguments: []string{"--leave", "--reduce", "sub"}, states: "^$"},
		{name: "sub-communicators only", arguments: []string{"--reduce", "sub"}, states: "^$"},
		{name: "no collective at all", arguments: []string{"--reduce", "none"}, states: "^$"},
		{name: "a rank aborts", arguments: []string{"--abort", "1"}, code: 3, states: clusters},
		{name: "a rank forgets to mark", arguments: []string{"--reduce", "sub", "--mark", "--forget", "1"}, flags: []string{"--clustering", "wait=2"}, states: clusters + "[ACL]*E$"},
		{name: "explicit markers", arguments: []string{"--reduce", "none", "--mark"}, states: clusters + "A+(CL*A*)*$"},
		{name: "both kinds of markers", arguments: []string{"--mark"}, states: clusters + "A+(CL*A*)*$"},
	} {
		for _, implementation := range shimtest.ImplementationsOf(i) {
			t.Run(test.name+"/"+implementation, func(t *testing.T) {
				r := clustered(t, append([]string{"--verify"}, test.flags...), launch(implementation, 4, "phases", append([]string{"--iterations", "2500", "--work-us", "100"}, test.arguments...)...)...)
				if test.code == 0 {
					require.Equal(t, 0, r.code, r.stderr)
					require.Contains(t, r.stdout, "agree with the reference log")
				} else {
					require.NotZero(t, r.code)
				}
				trace := openTrace(t, r.dir)
				require.Regexp(t, test.states, outcomes(trace))
				for _, thread := range trace.Threads().All() {
					cursor, err := trace.Cursor(thread.Rank, thread.Thread)
					require.NoError(t, err)
					last := int64(0)
					for cursor.Next() {
						require.GreaterOrEqual(t, cursor.Event().EnterTicks, last)
						last = cursor.Event().ExitTicks
					}
					require.NoError(t, cursor.Err())
				}
			})
		}
	}
}

// Programs without a collective in their time loop vote at explicit markers: a sweep like NPB LU's,
// and a master with its workers. A lead is the first rank that makes its calls. The others keep no
// times while nothing changes.
func TestClusteredAtExplicitMarkers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		program string
		ranks   int
		flags   []string
		more    []string
		leads   []int
	}{
		{"sweep", 4, nil, []string{"--planes", "4"}, []int{0, 1, 2, 3}}, // four corners
		{"sweep", 12, nil, []string{"--planes", "4"}, []int{0, 1, 2, 3, 4, 5, 9, 10, 11}},
		// which worker the master answers differs from round to round
		{"farm", 4, []string{"--clustering", "arguments=ignored"}, nil, []int{0, 1}},
	} {
		for _, implementation := range implementations {
			if testing.Short() && test.ranks > 4 && implementation == "openmpi" {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d/%s", test.program, test.ranks, implementation), func(t *testing.T) {
				iterations := map[string]string{"sweep": "--iterations", "farm": "--rounds"}[test.program]
				rounds := map[string]int{"sweep": 500, "farm": 1000}[test.program]
				settled := regexp.MustCompile(clusters + "(A+(CL*)?)*$")
				var (
					r      result
					trace  *cairntrace.Reader
					states string
				)
				// on a busy machine answers are late at more of the votes
				for i := 0; i < 5 && !(settled.MatchString(states) && allFollow(trace)); i++ {
					if i == 1 {
						rounds *= 3
					}
					command := slices.Concat([]string{"--mark", "--work-us", "50", iterations, strconv.Itoa(rounds)}, test.more)
					r = clustered(t, append([]string{"--verify"}, test.flags...), launch(implementation, test.ranks, test.program, command...)...)
					require.Equal(t, 0, r.code, r.stderr)
					require.Contains(t, r.stdout, "agree with the reference log")
					trace = openTrace(t, r.dir)
					states = outcomes(trace)
					t.Logf("%d rounds: %s", rounds, states)
				}
				require.Regexp(t, settled, states)
				lead := leadsOf(trace)
				for _, v := range trace.Meta().Clustering.Votes {
					require.True(t, v.Explicit)
					if v.State == cairntrace.VoteClustered {
						require.Equal(t, test.leads, v.Leads)
					}
				}
				for _, thread := range trace.Threads().All() {
					require.Len(t, thread.CallsAtVotes, len(states))
					require.NotEmpty(t, thread.Overheads)
					if lead[thread.Rank] {
						require.Empty(t, thread.Extrapolations)
					} else {
						requireFollows(t, thread, strings.Count(states, "L"))
					}
				}
				found := info(t, filepath.Join(r.dir, "trace.cairn"))["clustering"].(map[string]any)
				require.Equal(t, true, found["explicit"])
				require.Positive(t, found["ns_per_vote"])
			})
		}
	}
}
