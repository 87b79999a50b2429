package compare

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// rankSum is the two-sided p-value of Mann and Whitney for a and b coming from one distribution.
func rankSum(a, b []float64) float64 {
	type value struct {
		x   float64
		ofB bool
	}
	all := make([]value, 0, len(a)+len(b))
	for _, x := range a {
		all = append(all, value{x: x})
	}
	for _, x := range b {
		all = append(all, value{x: x, ofB: true})
	}
	slices.SortFunc(all, func(x, y value) int { return cmp.Compare(x.x, y.x) })
	ties, sum := 0.0, 0.0
	for i := 0; i < len(all); {
		k := i
		for k < len(all) && all[k].x == all[i].x {
			k++
		}
		t := float64(k - i)
		ties += t*t*t - t
		for j := i; j < k; j++ {
			if all[j].ofB {
				sum += float64(i+k+1) / 2
			}
		}
		i = k
	}
	m, n := float64(len(a)), float64(len(b))
	u := sum - n*(n+1)/2
	variance := m * n / 12 * (m + n + 1 - ties/((m+n)*(m+n-1)))
	if variance <= 0 {
		return 1
	}
	z := (math.Abs(u-m*n/2) - 0.5) / math.Sqrt(variance)
	return min(1, 2*distuv.UnitNormal.Survival(z))
}

// shift is the median of all differences, of Hodges and Lehmann.
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
