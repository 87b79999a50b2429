// Package paired estimates by what factor something takes longer than something else: the ratio of
// sums over interleaved pairs of measurements, with bounds by the bootstrap.
package paired

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// The number of samples of the bootstrap, and the part of them below the upper bound and above the
// lower one.
const (
	samples    = 10000
	confidence = 0.95
)

// A Pair is two measurements that were made one after the other.
type Pair struct{ Without, With float64 }

// Ratio returns the sum of With divided by the sum of Without, and bounds, each of which holds with
// 95% confidence. It is deterministic.
func Ratio(pairs []Pair) (ratio, lower, upper float64) {
	chance := rand.New(rand.NewPCG(1, 1))
	ratios := make([]float64, samples)
	for i := range ratios {
		var without, with float64
		for range pairs {
			p := pairs[chance.IntN(len(pairs))]
			without += p.Without
			with += p.With
		}
		ratios[i] = with / without
	}
	slices.Sort(ratios)
	var without, with float64
	for _, p := range pairs {
		without += p.Without
		with += p.With
	}
	return with / without, stat.Quantile(1-confidence, stat.Empirical, ratios, nil), stat.Quantile(confidence, stat.Empirical, ratios, nil)
}
