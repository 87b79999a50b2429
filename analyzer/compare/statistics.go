package compare

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"gonum.org/v1/gonum/stat/distuv"
)

// rankSum returns the two-sided p-value of Mann and Whitney for a and b having the same
// distribution.
func rankSum(a, b []float64) float64 {
	result, err := stats.MannWhitneyUTest(a, b, stats.LocationDiffers)
	if err != nil || math.IsNaN(result.P) { // nothing to test, or all values are equal
		return 1
	}
	return min(1, result.P)
}

// shift returns the median of all differences (Hodges and Lehmann).
func shift(a, b []float64) float64 {
	all := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			all = append(all, y-x)
		}
	}
	return median(all)
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// A sample has one value per run, with the bound of its rounding error.
type sample struct{ values, bounds []float64 }

func (s *sample) add(value, bound float64) {
	s.values, s.bounds = append(s.values, value), append(s.bounds, bound)
}

// Weight, Mean and Variance implement the interface of package stats.
func (s *sample) Weight() float64 { return float64(len(s.values)) }

// Mean is the mean of the values.
func (s *sample) Mean() float64 { return stats.Mean(s.values) }

// Variance is the variance between the runs, but at least that of the rounding errors: of a uniform
// distribution over both sides of the bound. Equal values do not show that there is no variance.
func (s *sample) Variance() float64 {
	width := max(2*stats.Mean(s.bounds), tick)
	return max(stats.Variance(s.values), width*width/12)
}

// tick is the resolution of time stamps, in seconds.
const tick = 1e-9

// welch returns the two-sided p-value of Welch's t-test for a and b having the same mean, and the
// smallest difference of the means that would have had the p-value level.
func welch(a, b *sample, level float64) (p, detectable float64) {
	result, err := stats.TwoSampleWelchTTest(a, b, stats.LocationDiffers)
	if err != nil { // a sample of one run
		return 1, math.Inf(1)
	}
	quantile := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: result.DoF}.Quantile(1 - level/2)
	return result.P, quantile * math.Sqrt(a.Variance()/a.Weight()+b.Variance()/b.Weight())
}
