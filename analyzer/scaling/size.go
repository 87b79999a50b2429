package scaling

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// center is the median of the values of equal runs, and the relative variance of a size's value that they show: none for
// one run.
func center(values []float64) (median, variance float64) {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	median = (sorted[(n-1)/2] + sorted[n/2]) / 2
	if n < 2 || median == 0 {
		return median, 0
	}
	variance = stat.Variance(sorted, nil) / (median * median) / float64(n)
	if n > 2 {
		variance *= medianIsWider
	}
	return median, variance
}

// medianIsWider is how much larger the variance of a median of normal values is than that of their mean.
const medianIsWider = math.Pi / 2
