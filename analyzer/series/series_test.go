package series

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSeries compares random series of every length with all their durations.
func TestSeries(t *testing.T) {
	random := rand.New(rand.NewPCG(33, 1))
	for range 300 {
		size := 2 * (1 + random.IntN(16))
		s, all := Of(size), []float64{}
		for range random.IntN(400) {
			seconds := float64(1 + random.IntN(4))
			if random.IntN(20) == 0 {
				seconds = float64(5 + random.IntN(50))
			}
			s.Add(seconds)
			all = append(all, seconds)
		}
		require.Equal(t, len(all), int(s.Count))
		means, per := s.Means(), int(s.Per)
		require.LessOrEqual(t, len(means), size)
		for i, mean := range means {
			sum := 0.0
			for _, seconds := range all[i*per : (i+1)*per] {
				sum += seconds
			}
			assert.InDelta(t, sum/float64(per), mean, 1e-4)
		}
		sorted := slices.Sorted(slices.Values(all))
		slices.Reverse(sorted)
		for i, one := range s.Top {
			assert.InDelta(t, sorted[i], one.Seconds, 0)
			assert.InDelta(t, all[one.Number-1], one.Seconds, 0)
		}
		begins := uint64(0)
		for i, seconds := range all {
			if seconds > 4 {
				begins = uint64(i + 1)
			}
			if above, known := s.IsAbove(uint64(i+1), 4); known {
				assert.Equal(t, seconds > 4, above, "number %d of %d", i+1, len(all))
			} else {
				assert.Greater(t, per, 1)
			}
		}
		assert.GreaterOrEqual(t, s.LastAbove(4), begins)
		assert.Less(t, s.LastAbove(4), begins+uint64(max(1, per)))
		if begins == 0 {
			assert.Zero(t, s.LastAbove(4))
			assert.Zero(t, s.ShareAbove(4))
		}
	}
}

// A trend is found, noise without one is not.
func TestTrend(t *testing.T) {
	random := rand.New(rand.NewPCG(33, 2))
	noise := make([]float64, 64)
	found := 0
	for range 200 {
		for i := range noise {
			noise[i] = random.NormFloat64()
		}
		if MannKendall(noise) < 0.01 {
			found++
		}
	}
	assert.LessOrEqual(t, found, 8, "of 200 at a level of 1 %")
	for i := range noise {
		noise[i] += float64(i) / 8
	}
	assert.Less(t, MannKendall(noise), 1e-9)
	assert.InEpsilon(t, 1.0/8, TheilSen(noise), 0.2)
}
