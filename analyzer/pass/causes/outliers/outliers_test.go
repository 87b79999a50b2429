package outliers

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func workersOf(variance float64, useful ...float64) []Worker {
	var list []Worker
	for row, seconds := range useful {
		list = append(list, Worker{Row: row, Useful: seconds, Variance: variance})
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
		assert.Equal(t, c.want, rest.exceededBy(Worker{Useful: c.useful, Variance: c.vary}, 10, Significance, MinRatio), name)
	}
}
