package trace

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

// streams that are hard on a rounder: drift to one side, tiny and enormous values, none at all.
func adversaries(r *rand.Rand, n int) map[string][]int64 {
	g, _ := GridOf(5)
	fill := func(f func(i int) int64) []int64 {
		s := make([]int64, n)
		for i := range s {
			s[i] = f(i)
		}
		return s
	}
	return map[string][]int64{
		"zeros":       fill(func(int) int64 { return 0 }),
		"ones":        fill(func(int) int64 { return 1 }),
		"tiny":        fill(func(int) int64 { return r.Int63n(50) }),
		"constant":    fill(func(int) int64 { return 1234567 }),
		"just above":  fill(func(i int) int64 { return g.values[100+i%40] + 1 }),
		"just below":  fill(func(i int) int64 { return g.values[100+i%40] - 1 }),
		"on the grid": fill(func(i int) int64 { return g.values[i%len(g.values)] }),
		"alternating": fill(func(i int) int64 { return []int64{3, 1 << 40}[i%2] }),
		"huge gaps":   fill(func(i int) int64 { return []int64{1 << 55, 7, 900, 1}[i%4] }),
		"growing":     fill(func(i int) int64 { return int64(i) * int64(i) }),
		"one long":    fill(func(i int) int64 { return []int64{1 << 30, 117}[min(i, 1)] }),
		"exponential": fill(func(int) int64 { return int64(r.ExpFloat64() * 5000) }),
		"any size":    fill(func(int) int64 { return r.Int63() >> (7 + r.Intn(56)) }),
		"nested":      fill(func(i int) int64 { return []int64{500, -300, 20}[i%3] }),
		"too long":    fill(func(i int) int64 { return []int64{1 << 60, 5000}[i%2] }),
	}
}

// one rounds a single interval.
func (r *TimingRounder) one(g *TimingGrid, x int64) int64 {
	interval := []int64{x}
	r.Round(g, interval)
	return interval[0]
}

// Both bounds of lossy timing, at every event: |x' − x| ≤ e·x, and |t' − t| ≤ e·L.
func TestRoundedTimesStayWithinTheirBounds(t *testing.T) {
	for _, percents := range [][]int{{1}, {5}, {20}, {50}, {1, 20}, {3, 7, 50}} {
		worst := 0
		var gs []*TimingGrid
		for _, p := range percents {
			g, err := GridOf(p)
			require.NoError(t, err)
			gs, worst = append(gs, g), max(worst, p)
		}
		for name, stream := range adversaries(rand.New(rand.NewSource(1)), 20_000) {
			var r TimingRounder
			var drift, longest int64
			for i, x := range stream {
				g := gs[i%len(gs)]
				y := r.one(g, x)
				if x >= 0 && y < 0 || magnitude(y-x) > magnitude(x)/100*g.percent+magnitude(x)%100*g.percent/100 {
					t.Fatalf("%s at %v%%: %d became %d", name, g.percent, x, y)
				}
				if y != x && g.index(y) < 0 {
					t.Fatalf("%s at %v%%: %d became %d, which is not in the grid", name, g.percent, x, y)
				}
				drift += y - x
				longest = max(longest, magnitude(x))
				if float64(magnitude(drift)) > float64(longest)*float64(worst)/100 {
					t.Fatalf("%s at %v%%: event %d is off by %d, the longest was %d", name, percents, i, drift, longest)
				}
				require.Equal(t, drift, r.Drift)
			}
		}
	}
}

// What is rounded once is kept when it is rounded again, or no shard could be merged twice.
func TestGridFindsItsValues(t *testing.T) {
	for percent := 1; percent <= MaxTimingError; percent++ {
		g, err := GridOf(percent)
		require.NoError(t, err)
		require.Less(t, len(g.values), 1<<13-1)
		for k, v := range g.values[:len(g.values)-1] {
			require.Equal(t, k, g.index(v))
			if next := g.values[k+1]; next > v+1 {
				require.Equal(t, k, g.below(next-1))
				require.Equal(t, -1, g.index(v+1))
				require.LessOrEqual(t, next-v, v/100*int64(percent)+v%100*int64(percent)/100)
			}
		}
	}
	_, err := GridOf(0)
	require.Error(t, err)
	_, err = GridOf(51)
	require.Error(t, err)
}

func BenchmarkTimingRound(b *testing.B) {
	g, _ := GridOf(5)
	random := rand.New(rand.NewSource(1))
	x, intervals := make([]int64, 4096), make([]int64, 4096)
	for i := range x {
		x[i] = int64(random.ExpFloat64() * 3000)
	}
	var r TimingRounder
	for b.Loop() {
		copy(intervals, x)
		r.Round(g, intervals)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/interval")
}
