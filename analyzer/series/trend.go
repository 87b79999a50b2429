package series

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Median returns the median, 0 of no values.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Scale returns a robust standard deviation: 1.4826 times the median distance from the median.
func Scale(values []float64, middle float64) float64 {
	away := make([]float64, len(values))
	for i, v := range values {
		away[i] = math.Abs(v - middle)
	}
	return 1.4826 * Median(away)
}

// TheilSen returns the median of the slopes of all pairs (Theil 1950; Sen, JASA 63, 1968), per
// step.
func TheilSen(values []float64) float64 {
	var slopes []float64
	for i := range values {
		for k := i + 1; k < len(values); k++ {
			slopes = append(slopes, (values[k]-values[i])/float64(k-i))
		}
	}
	return Median(slopes)
}

// MannKendall returns the two-sided probability of at least this trend if there is none (Mann 1945;
// Kendall 1975; with the variance for ties and the correction for continuity).
func MannKendall(values []float64) float64 {
	n := float64(len(values))
	if n < 8 {
		return 1
	}
	s := 0.0
	ties := map[float64]float64{}
	for i := range values {
		ties[values[i]]++
		for k := i + 1; k < len(values); k++ {
			switch {
			case values[k] > values[i]:
				s++
			case values[k] < values[i]:
				s--
			}
		}
	}
	variance := n * (n - 1) * (2*n + 5)
	for _, t := range ties {
		variance -= t * (t - 1) * (2*t + 5)
	}
	variance /= 18
	if variance <= 0 || s == 0 {
		return 1
	}
	return 2 * distuv.UnitNormal.Survival((math.Abs(s)-1)/math.Sqrt(variance))
}
