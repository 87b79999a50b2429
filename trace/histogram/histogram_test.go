package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHistogramKnown(t *testing.T) {
	var b Builder
	b.Add(7, 3)
	b.Add(-2, 1)
	require.Equal(t, Histogram{Count: 4, Sum: 19, Min: -2, Max: 7, Bins: []Range{{-2, -2, 1}, {7, 7, 3}}}, b.Histogram())
	coarse := Builder{Coarse: true}
	for _, x := range []int64{0, 3, 9, 8, 100, -1, -9} {
		coarse.Add(x, 1)
	}
	// four bins to a doubling from 4 on: 8 and 9 are one, −9 is the mirror of 8
	require.Equal(t, Histogram{Count: 7, Sum: 110, Min: -9, Max: 100, Binned: true,
		Bins: []Range{{-10, -9, 1}, {-1, -1, 1}, {0, 0, 1}, {3, 3, 1}, {8, 9, 2}, {96, 111, 1}}}, coarse.Histogram())
	require.Equal(t, Histogram{}, (&Builder{}).Histogram())
	var huge Builder
	huge.Add(math.MaxInt64, 5)
	require.Equal(t, int64(math.MaxInt64), huge.Histogram().Sum)
	huge = Builder{}
	huge.Add(math.MinInt64, 2)
	require.Equal(t, int64(math.MinInt64), huge.Histogram().Sum)
}

// Bins of any numbers are in order, meet, and have the number that they are of.
func TestSignedBins(t *testing.T) {
	for k := -1 - greatestBin; k <= greatestBin; k++ {
		low, high := BinRange(k)
		require.Equal(t, []int{k, k}, []int{BinOf(low), BinOf(high)})
		if k < greatestBin {
			next, _ := BinRange(k + 1)
			require.Equal(t, high+1, next)
		}
		if low >= 0 {
			require.LessOrEqual(t, float64(high)-float64(low), 0.25*float64(low))
		}
	}
	require.Equal(t, int64(math.MinInt64), first(BinRange(-1-greatestBin)))
}

func first(a, _ int64) int64 { return a }

// Of random numbers, sums are those of a plain count, and quantiles between the tails are
// within 25% of it.
func TestHistogramAgainstSorting(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := Builder{Coarse: seed%2 == 0}
		all := make([]int64, 1+r.IntN(3000))
		sum := int64(0)
		for i := range all {
			all[i] = int64(math.Exp(r.NormFloat64()*float64(seed%7))*1000) - int64(seed%3)*500
			sum += all[i]
			b.Add(all[i], 1)
		}
		h := b.Histogram()
		slices.Sort(all)
		require.True(t, h.Valid())
		require.Equal(t, []int64{int64(len(all)), sum, all[0], all[len(all)-1]}, []int64{int64(h.Count), h.Sum, h.Min, h.Max})
		for q := 2; q < 99; q++ {
			exact := all[max(int(math.Ceil(float64(q)/100*float64(len(all))))-1, 0)]
			require.LessOrEqual(t, math.Abs(float64(h.Quantile(float64(q)/100)-exact)), 0.25*math.Abs(float64(exact))+1, "seed %d, %d%%", seed, q)
		}
	}
}
