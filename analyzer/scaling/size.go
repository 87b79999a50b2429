package scaling

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// center returns the median of the values of equal runs, and the relative variance of it that they
// suggest: 0 for one run.
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

// medianIsWider is the ratio of the variance of a median of normal values to that of their mean.
const medianIsWider = math.Pi / 2
