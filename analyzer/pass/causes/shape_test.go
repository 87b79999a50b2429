package causes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

func workersOf(variance float64, useful ...float64) []outliers.Worker {
	var list []outliers.Worker
	for row, seconds := range useful {
		list = append(list, outliers.Worker{Row: row, Useful: seconds, Variance: variance})
	}
	return list
}

// squaresOf returns the sum of squared deviations from the mean.
func squaresOf(workers []outliers.Worker) (sum float64) {
	for _, w := range workers {
		sum += math.Pow(w.Useful-outliers.MeanUseful(workers), 2)
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
