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
	r := Record{Case: Case{Class: Evidence, Program: "p", Ranks: 2}, Turn: 1}
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
		assert.Equal(t, example.is, judgeFault(&r, f, example.own, 0), "%s: %+v", r.Fault, r.Causes)
	}
	r := says(verdict.Crash, "", "0")
	r.Fault, r.Exit = full, 1
	f, err := FaultOf(Evidence, full)
	require.NoError(t, err)
	assert.Equal(t, Right, judgeFault(&r, f, nil, 0), "the program did not get over it")
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
		r.Index, r.Turn, r.Fault = i, 0, "stop"
		require.NoError(t, results.Add(&r))
	}
	for i, ranks := range []string{"1", "1", "0"} { // two are needed
		r := says(verdict.Excess, verdict.Always, ranks)
		r.Index, r.Turn, r.Fault, r.Program = 10+i, 0, "stop", []string{"q", "q", "once"}[i]
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
		turns  []float64
		spread float64
		part   float64
		much   bool
	}{
		{[]float64{5, 10, 5}, 0.1, 0.5, true},
		{[]float64{9, 10, 9}, 0.1, 0.1, false},       // less than 15%
		{[]float64{8, 10, 8}, 0.9, 0.2, false},       // less than three times the spread of the program
		{[]float64{6.5, 10, 8.5}, 0, 0.25, false},    // or of its own controls
		{[]float64{6, 5, 6}, 0.1, -0.2, false},       // other load before and after
		{[]float64{5, 10, 5, 10, 5}, 0.1, 0.5, true}, // two pairs
		{[]float64{5, 10, 5, 9, 5, 30, 5}, 0.1, 0.5, true},
		{[]float64{5, 10, 5, 10, 0}, 0.1, 0.5, true}, // the second pair lacks a control
	} {
		part, much, known := cost(example.turns, example.spread)
		assert.True(t, known)
		assert.InDelta(t, example.part, part, 1e-9, example)
		assert.Equal(t, example.much, much, example)
	}
	for _, turns := range [][]float64{nil, {5}, {5, 10}, {0, 10, 5}, {5, 0, 5}, {5, 0, 5, 10}} {
		_, _, known := cost(turns, 0)
		assert.False(t, known, turns)
	}
}

// TestOwnProblemComesFirst: then the fault must come next, unless it costs much more.
func TestOwnProblemComesFirst(t *testing.T) {
	f, err := FaultOf(Evidence, "hog")
	require.NoError(t, err)
	r := says(verdict.Excess, verdict.Always, "0")
	r.Rank, r.Causes[0].GainSeconds = 1, new(2.0)
	r.Causes = append(r.Causes, verdict.Cause{Kind: verdict.Excess, Form: verdict.Preempted, Ranks: "1"})
	for _, example := range []struct {
		own  []int
		cost float64
		is   Outcome
	}{{[]int{0}, 2, Right}, {[]int{0}, 3.5, Own}, {nil, 2, FalseBlame}} {
		assert.Equal(t, example.is, judgeFault(&r, f, example.own, example.cost), example)
	}
	r.Causes[1].Ranks = "0"
	assert.Equal(t, Own, judgeFault(&r, f, []int{0}, 2))
}

// TestDiscarded: runs whose fault had no effect are never judged, nor those of ranks that waited
// for a CPU without one.
func TestDiscarded(t *testing.T) {
	for why, r := range map[string]Record{
		"":                         {Seconds: 2, Effect: 1, Delayed: []float64{0.01, 0.9}},
		"hog had no effect":        {Seconds: 2, Effect: 0.01},
		"kill had no effect":       {Seconds: 2, Effect: 1, Case: Case{Fault: "kill"}},
		"a rank without a fault":   {Seconds: 2, Effect: 1, Delayed: []float64{0.04, 0.9}},
		"waited for a CPU":         {Seconds: 2, Delayed: []float64{0.04, 0.01}, Case: Case{Index: -1}},
		"takes less than 1 s here": {Seconds: 0.5, Case: Case{Index: -1}},
	} {
		r.Class, r.Rank, r.Turn, r.Program = Evidence, 1, 1, "p"
		if r.Index < 0 {
			r.Turn = 0
		}
		if r.Fault == "" {
			r.Fault = "hog"
		}
		f, err := FaultOf(r.Class, r.Fault)
		require.NoError(t, err)
		if got := discard(&r, f); why == "" {
			assert.Empty(t, got)
		} else {
			assert.Contains(t, got, why)
		}
	}
}

// TestOnlyTheRegionIsRight: a rank that was stretched in one region takes longer there.
func TestOnlyTheRegionIsRight(t *testing.T) {
	f, err := FaultOf(Place, "region")
	require.NoError(t, err)
	r := says(verdict.Excess, verdict.Blocked, "1")
	r.Class, r.Rank, r.Region = Place, 1, "MPI_Wait"
	r.Causes[0].Before.Function = "MPI_Send"
	assert.Equal(t, Partly, judgeFault(&r, f, nil, 0))
	r.Causes[0].Before.Function = "MPI_Wait"
	assert.Equal(t, Right, judgeFault(&r, f, nil, 0))
}

// TestOnlyLargeFaultsMustBeNamed: a fault without both controls has no known cost.
func TestOnlyLargeFaultsMustBeNamed(t *testing.T) {
	results, err := OpenResults(filepath.Join(t.TempDir(), "runs"))
	require.NoError(t, err)
	for index, seconds := range [][3]float64{{1, 2, 1}, {1, 1.05, 1}, {1, 2, 0}} {
		for turn := range TurnsOf(1) {
			r := says(verdict.Nobody, "", "")
			r.Index, r.Turn, r.Fault, r.Seconds = index, turn, "stop", seconds[turn]
			if r.Seconds == 0 {
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
