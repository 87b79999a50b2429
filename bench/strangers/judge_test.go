package strangers

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/combin"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// says is a run of which the report names a cause and ranks.
func says(kind verdict.Kind, form verdict.Form, ranks string) Record {
	r := Record{Case: Case{Class: Evidence, Program: "p", Ranks: 2}, Turn: During}
	if kind != verdict.Nobody {
		r.Causes = []verdict.Cause{{Kind: kind, Form: form, Ranks: ranks}}
	}
	return r
}

func TestJudgeFault(t *testing.T) {
	stop, full, latency := "stop", "full-disk", "latency"
	for _, example := range []struct {
		class Class
		fault string
		said  Record
		own   []int
		is    Outcome
	}{
		{Evidence, stop, says(verdict.Excess, verdict.Blocked, "1"), nil, Right},
		{Evidence, stop, says(verdict.Excess, verdict.Always, "1"), nil, Partly},
		{Evidence, stop, says(verdict.Excess, verdict.Blocked, "0"), nil, FalseBlame},
		{Evidence, stop, says(verdict.Excess, verdict.Always, "0"), []int{0}, Own},
		{Evidence, stop, says(verdict.Excess, verdict.Blocked, "1"), []int{1}, Right},
		{Evidence, stop, says(verdict.Excess, verdict.Always, "1"), []int{1}, Partly},
		{Evidence, stop, says(verdict.Messages, verdict.TooMany, ""), nil, Wrong},
		{Evidence, stop, says(verdict.Imbalance, verdict.Moving, "0-1"), nil, Wrong},
		{Evidence, stop, says(verdict.Nobody, "", ""), nil, NoCause},
		{Evidence, "hog", says(verdict.CPUs, verdict.TooFew, ""), nil, Partly},
		{Evidence, "hog", says(verdict.Excess, verdict.Preempted, "1"), nil, Right},
		{Evidence, "together", says(verdict.CPUs, verdict.TooFew, ""), nil, Right},
		{Evidence, "together", says(verdict.Excess, verdict.Preempted, "1"), nil, FalseBlame},
		{Evidence, "kill", says(verdict.Crash, "", "1"), nil, Right},
		{Evidence, "kill", says(verdict.Crash, "", "0"), nil, FalseBlame},
		{Evidence, full, says(verdict.Nobody, "", ""), nil, Right},
		{Evidence, full, says(verdict.Excess, verdict.Always, "0"), nil, FalseBlame},
		{Place, latency, says(verdict.Network, "", ""), nil, Right},
		{Place, latency, says(verdict.Excess, verdict.Always, "3"), nil, FalseBlame},
	} {
		r := example.said
		r.Class, r.Fault, r.Rank = example.class, example.fault, 1
		f, err := FaultOf(r.Class, r.Fault)
		require.NoError(t, err)
		assert.Equal(t, example.is, judgeFault(&r, f, example.own), "%s: %+v", r.Fault, r.Causes)
	}
	r := says(verdict.Crash, "", "0")
	r.Fault, r.Exit = full, 1
	f, err := FaultOf(Evidence, full)
	require.NoError(t, err)
	assert.Equal(t, Right, judgeFault(&r, f, nil), "the program did not get over it")
}

// TestOwn: the ranks that most controls of a program blame are the program's own; others are blamed
// falsely.
func TestOwn(t *testing.T) {
	results, err := OpenResults(filepath.Join(t.TempDir(), "runs"))
	require.NoError(t, err)
	for i, ranks := range []string{"0", "0", "0", "1", "", "0"} {
		r := says(verdict.Excess, verdict.Always, ranks)
		if ranks == "" {
			r = says(verdict.Nobody, "", "")
		}
		r.Index, r.Turn, r.Fault = i, Before, "stop"
		require.NoError(t, results.Add(&r))
	}
	for i, ranks := range []string{"1", "1", "0"} { // two are needed
		r := says(verdict.Excess, verdict.Always, ranks)
		r.Index, r.Turn, r.Fault, r.Program = 10+i, Before, "stop", []string{"q", "q", "once"}[i]
		require.NoError(t, results.Add(&r))
	}
	all, err := results.Judge()
	require.NoError(t, err)
	s := Summarize(all, false)
	assert.Equal(t, Score{Own: 6, FalseBlame: 2, Right: 1}, s.Controls)
	assert.Zero(t, Summarize(all, true).Controls.N())
}

func TestCost(t *testing.T) {
	for _, example := range []struct {
		with, before, after, spread float64
		part                        float64
		much                        bool
	}{
		{10, 5, 5, 0.1, 0.5, true},
		{10, 9, 9, 0.1, 0.1, false},    // less than 15%
		{10, 8, 8, 0.9, 0.2, false},    // less than three times the spread of the program
		{10, 6.5, 8.5, 0, 0.25, false}, // or of its own controls
		{5, 6, 6, 0.1, -0.2, false},    // other load before and after
		{0, 0, 0, 0, 0, false},
	} {
		part, much := cost(example.with, example.before, example.after, example.spread)
		assert.InDelta(t, example.part, part, 1e-9, example)
		assert.Equal(t, example.much, much, example)
	}
}

// TestOnlyLargeFaultsMustBeNamed: a fault without both controls has no known cost.
func TestOnlyLargeFaultsMustBeNamed(t *testing.T) {
	results, err := OpenResults(filepath.Join(t.TempDir(), "runs"))
	require.NoError(t, err)
	for index, seconds := range [][3]float64{{1, 2, 1}, {1, 1.05, 1}, {1, 2, 0}} {
		for i, turn := range Turns {
			r := says(verdict.Nobody, "", "")
			r.Index, r.Turn, r.Fault, r.Seconds = index, turn, "stop", seconds[i]
			if seconds[i] == 0 {
				r.Discarded = "noise"
			}
			require.NoError(t, results.Add(&r))
		}
	}
	all, err := results.Judge()
	require.NoError(t, err)
	s := Summarize(all, false)
	assert.Equal(t, Score{NoCause: 1}, s.Large)
	assert.Equal(t, Score{Right: 5}, s.Controls)
}

// TestBounds compares the bounds with their definition: each is the share at which the observation,
// or one that is further away, has a probability of 2.5%.
func TestBounds(t *testing.T) {
	atLeast := func(k, n int, p float64) (sum float64) {
		for i := k; i <= n; i++ {
			sum += float64(combin.Binomial(n, i)) * math.Pow(p, float64(i)) * math.Pow(1-p, float64(n-i))
		}
		return sum
	}
	for n := 1; n <= 30; n++ {
		for k := range n + 1 {
			low, high := Bounds(k, n)
			if k > 0 {
				assert.InDelta(t, 0.025, atLeast(k, n, low), 1e-6, "%d of %d", k, n)
			} else {
				assert.Zero(t, low)
			}
			if k < n {
				assert.InDelta(t, 0.025, 1-atLeast(k+1, n, high), 1e-6, "%d of %d", k, n)
			} else {
				assert.Equal(t, 1.0, high)
			}
		}
	}
	_, high := Bounds(0, 381)
	assert.Less(t, high, 0.01, "which is why there are 400 controls")
}
