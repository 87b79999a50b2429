package causes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

func workersOf(variance float64, useful ...float64) []worker {
	var list []worker
	for row, seconds := range useful {
		list = append(list, worker{row: row, useful: seconds, variance: variance})
	}
	return list
}

// A rank stands out only if all three hold: it is beyond the spread of the others (for nine that
// compute equally long and ten candidates 7.1%), it computes 1.1 times as long, and its excess is
// beyond the noise of its own and the others' iterations.
func TestWhenARankStandsOut(t *testing.T) {
	equal := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1}
	for name, c := range map[string]struct {
		others       []float64
		othersVary   float64
		useful, vary float64
		want         bool
	}{
		"within the spread":                   {equal, 0, 1.05, 0, false},
		"beyond it, but little":               {equal, 0, 1.08, 0, false},
		"longer":                              {equal, 0, 1.2, 0, true},
		"longer by its noise, 0.3":            {equal, 0, 1.2, 0.01, false},
		"longer by the noise of others, 0.22": {equal, 0.05, 1.2, 0, false},
		"longer than their noise, 0.17":       {equal, 0.03, 1.2, 0, true},
		"beyond two, but little":              {[]float64{1, 1}, 0, 1.2, 0, false},
		"longer than two":                     {[]float64{1, 1}, 0, 1.3, 0, true},
		"within 8 spreads of two, 0.57":       {[]float64{0.95, 1.05}, 0, 1.5, 0, false},
		"beyond 8 spreads of two":             {[]float64{0.95, 1.05}, 0, 1.6, 0, true},
		"longer than one, but little":         {[]float64{1}, 0, 1.4, 0, false},
		"longer than one":                     {[]float64{1}, 0, 1.6, 0, true},
	} {
		rest := restOf(workersOf(c.othersVary, c.others...))[0]
		assert.Equal(t, c.want, rest.exceededBy(worker{useful: c.useful, variance: c.vary}, 10, significance, minRatio), name)
	}
}

// squaresOf returns the sum of squared deviations from the mean.
func squaresOf(workers []worker) (sum float64) {
	for _, w := range workers {
		sum += math.Pow(w.useful-meanUseful(workers), 2)
	}
	return sum
}

// The busier class is where the two classes explain most; at most a quarter of the ranks are a few
// with heavy work. The oracle tries each division.
func TestClassesOfRanks(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	forms := map[verdict.Form]int{}
	for range 300 {
		n, busy := 2+random.IntN(20), random.Float64()
		useful := make([]float64, n)
		for i := range useful {
			useful[i] = 1 + 0.8*random.Float64()
			if random.Float64() < busy {
				useful[i] += 3
			}
		}
		slices.Sort(useful)
		slices.Reverse(useful)
		workers := workersOf(0, useful...)
		all, within, at := squaresOf(workers), math.Inf(1), 0
		for g := 1; g < n; g++ {
			if s := squaresOf(workers[:g]) + squaresOf(workers[g:]); s < within {
				within, at = s, g
			}
		}
		form, set := verdict.Heavy, workers[:at]
		if at > max(1, n/4) {
			if form = verdict.Classes; within > 0.1*all {
				form, set = verdict.Heavy, nil
			}
		}
		gotForm, got := classesOf(workers)
		assert.Equal(t, form, gotForm, useful)
		assert.Equal(t, set, got, useful)
		if set != nil {
			forms[form]++
		}
	}
	assert.Greater(t, forms[verdict.Classes], 50)
	assert.Greater(t, forms[verdict.Heavy], 50)

	form, set := classesOf(workersOf(0, 2, 2, 2, 2))
	assert.Equal(t, verdict.NoForm, form, "all alike")
	assert.Nil(t, set)
}

func TestUpperQuarter(t *testing.T) {
	assert.Len(t, upperQuarter(workersOf(0, 2, 2, 2, 2, 2, 2, 2, 2)), 1, "at least one")
	assert.Len(t, upperQuarter(workersOf(0, 1, 1, 1, 9, 1, 1, 1, 1)), 1, "only those above the mean")
	assert.Len(t, upperQuarter(workersOf(0, 1, 8, 1, 9, 1, 7, 1, 1)), 2)
	assert.Len(t, upperQuarter(workersOf(0, 1, 3)), 1)
}

// Three of four ranks have a main thread in the trace. The path has 70 of a region in which each
// spends 30 on average: 40 too many. Of another it has less than the mean, and calls do not count.
// The busiest rank computes 100 and the mean is 50, so no more than 50 can be saved.
func TestUnevenOnPath(t *testing.T) {
	uneven := func(path int64) int64 {
		a := &search{input: input{Accounts: &accounts.Accounts{
			Ranks: make([]trace.Rank, 4), MainOf: []int{0, 1, -1, 2},
			Each: []accounts.Account{{Compute: 60}, {Compute: 100}, {Compute: 40}},
			Total: map[accounts.Activity]*accounts.Tally{
				{Function: 1, Next: 2}: {Ns: 120, Path: 70}, {Function: 2, Next: 1}: {Ns: 80, Path: path}, {Function: 1}: {Ns: 40, Path: 1000},
			},
		}}}
		return a.unevenOnPath()
	}
	assert.EqualValues(t, 40, uneven(5))
	assert.EqualValues(t, 45, uneven(25))
	assert.EqualValues(t, 50, uneven(60))
}

// Three ranks of a node were seen on two CPUs; each computes 600, of which it has a CPU
// for 600 − 200 (delayed) − 10 (stolen) − 50 (blocked) = 340. In turns that takes 3 · 340/2 = 510.
// If one computed 300 less, it would need a CPU for 300 instead of 340: (300 + 2 · 340)/2 = 490.
// The node of the fourth rank has enough CPUs.
func TestScarceCPUs(t *testing.T) {
	region := accounts.Activity{Function: 1, Next: 2}
	a := &search{input: input{Accounts: &accounts.Accounts{MainOf: []int{0, 1, 2, 3}, End: 1000}}}
	for row, cpu := range []int64{4, 5, 4, 7} {
		r := trace.Rank{Rank: row, Node: "few", Context: []trace.ContextSample{{CPU: cpu}, {CPU: -1}}}
		if row == 3 {
			r.Node = "enough"
		}
		a.Ranks = append(a.Ranks, r)
		a.Each = append(a.Each, accounts.Account{Compute: 600, OffCPU: map[accounts.Activity]*accounts.OffCPU{
			region: {Wall: 600, Delayed: 200, Stolen: 10, Blocked: 50},
		}})
	}
	s := a.scarceCPUs()
	few := scarceMachine{cpus: 2, ranks: []scarceRank{{0, 600, 340}, {1, 600, 340}, {2, 600, 340}}}
	assert.Equal(t, scarceCPUs{machines: []scarceMachine{few}, run: 1000}, s)
	h := &Hypothesis{Cause: verdict.Cause{Kind: verdict.Imbalance}}
	assert.EqualValues(t, 510, s.least(h, nil))
	assert.EqualValues(t, 490, s.least(h, []int64{-300, 0, 0, 0}))
	for _, c := range []verdict.Cause{{Kind: verdict.CPUs}, {Kind: verdict.Excess, Form: verdict.Preempted}, {Kind: verdict.Excess, Form: verdict.Stolen}} {
		assert.Zero(t, s.least(&Hypothesis{Cause: c}, nil), "it is about the CPUs")
	}
}
