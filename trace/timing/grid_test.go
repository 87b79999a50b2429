package timing

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

// One rounds a single interval.
func (r *Rounder) one(g *Grid, x int64) int64 {
	interval := []int64{x}
	r.Round(g, interval)
	return interval[0]
}

// The bounds of lossy timing, at every event: |x' − x| ≤ e·x; |t' − t| ≤ MomentTicks; and |t' − t|
// is within the bound that a reader derives from the rounded intervals, wherever it starts.
func TestRoundedTimesStayWithinTheirBounds(t *testing.T) {
	settings := Settings{Mode: Lossy}
	for _, percents := range [][]int{{1}, {5}, {20}, {50}, {1, 20}, {3, 7, 50}} {
		var gs []*Grid
		for _, p := range percents {
			g, err := GridOf(p)
			require.NoError(t, err)
			gs = append(gs, g)
		}
		for name, stream := range adversaries(rand.New(rand.NewSource(1)), 20_000) {
			var r Rounder
			var drift int64
			var bound, late MomentBound
			for i, x := range stream {
				if i%5000 == 0 {
					late.Reset()
				}
				g := gs[i%len(gs)]
				y := r.one(g, x)
				settings.ErrorPercent = int(g.percent)
				if x >= 0 && y < 0 || Magnitude(y-x) > settings.IntervalBound("", max(x, 0)) {
					t.Fatalf("%s at %v%%: %d became %d", name, g.percent, x, y)
				}
				drift += y - x
				bound.pass(g, y)
				late.pass(g, y)
				if Magnitude(drift) > min(bound.Ticks, late.Ticks) || bound.Ticks > MomentTicks {
					t.Fatalf("%s at %v%%: event %d is off by %d, and can be by %d or %d", name, percents, i, drift, bound.Ticks, late.Ticks)
				}
				require.Equal(t, drift, r.Drift)
			}
		}
	}
}

// Long computations between short calls: all moments stay within MomentTicks, and the first one
// after MPI_Init, which took a second, is exact. Intervals of 50 ms at 5% used to be off by up
// to 2.5 ms, and moments by up to 50.
func TestMomentsOfShortRunsAreExact(t *testing.T) {
	g, err := GridOf(5)
	require.NoError(t, err)
	var r Rounder
	require.Equal(t, int64(1_000_000_007), r.one(g, 1_000_000_007))
	require.Zero(t, r.Drift)
	worst := int64(0)
	for i := range int64(8) {
		r.one(g, 50_000_000+i*7919)
		worst = max(worst, Magnitude(r.Drift))
		r.one(g, 3001)
		worst = max(worst, Magnitude(r.Drift))
	}
	require.LessOrEqual(t, worst, int64(MomentTicks))
}

// In a program of short calls one long interval does not spoil the bounds of the following moments:
// an anchor comes within anchorEvery intervals, and from there on the bound is a usual step.
func TestAnchorsComeFromTimeToTime(t *testing.T) {
	g, err := GridOf(5)
	require.NoError(t, err)
	var r Rounder
	var bound MomentBound
	random := rand.New(rand.NewSource(1))
	pass := func(x int64) { bound.pass(g, r.one(g, x)) }
	pass(3_000_000)
	// not twice as long as any before, and its step, 50,000 at most, is less than MomentTicks
	pass(1_000_000)
	require.Greater(t, bound.Ticks, int64(20_000))
	for range anchorEvery + 50 { // some land on the grid by chance
		pass(10_000 + random.Int63n(2_000))
	}
	require.LessOrEqual(t, bound.Ticks, int64(630), "5% of what 12,000 is rounded to")
}

// Rounding rounded intervals does not change them; otherwise no shard could be merged twice.
func TestGridFindsItsValues(t *testing.T) {
	for percent := 1; percent <= MaxError; percent++ {
		g, err := GridOf(percent)
		require.NoError(t, err)
		require.Less(t, len(g.values), 1<<13-1)
		for k, v := range g.values[:len(g.values)-1] {
			number, mark := g.index(v)
			require.Equal(t, k, number)
			require.Zero(t, mark)
			if next := g.values[k+1]; next > v+1 {
				require.Equal(t, k, g.below(next-1))
				number, _ = g.index(v + 1)
				require.Equal(t, -1, number)
				require.LessOrEqual(t, next-v, v/100*int64(percent)+v%100*int64(percent)/100)
			}
		}
	}
	_, err := GridOf(0)
	require.Error(t, err)
	_, err = GridOf(51)
	require.Error(t, err)
}

// Steps wider than twice MomentTicks, and no others, have marks. An interval there ends within half
// their distance of the exact moment, whatever the error was before, and within the error of the
// grid. Values are counted one by one, without a table.
func TestMarksOfWideSteps(t *testing.T) {
	random := rand.New(rand.NewSource(7))
	for _, percent := range []int{1, 5, 20, 50} {
		g, err := GridOf(percent)
		require.NoError(t, err)
		var values []int64
		for v := int64(1); v < 1<<40; v = max(v+1, v+v*int64(percent)/100) {
			values = append(values, v)
		}
		for range 20_000 {
			k := random.Intn(len(values) - 1)
			low, step := values[k], values[k+1]-values[k]
			wide := step > 2*65536
			number, mark := g.index(low + 32768)
			if wide {
				require.Equal(t, k+1, number, "the grid begins with 0")
				require.Equal(t, int64(1), mark)
				x, ahead := low+random.Int63n(step), random.Int63n(2*65536+1)-65536
				if x-ahead < low || x-ahead >= low+step {
					continue
				}
				r := Rounder{Longest: 1 << 50, Drift: ahead}
				rounded := r.one(g, x)
				require.LessOrEqual(t, Magnitude(r.Drift), int64(32768/2), "%d after %d", x, ahead)
				require.Equal(t, ahead+rounded-x, r.Drift)
				require.LessOrEqual(t, Magnitude(rounded-x)*100, x*int64(percent))
				require.True(t, (rounded-low)%32768 == 0 || rounded == low+step)
				require.Equal(t, rounded, r.one(g, rounded+r.Drift), "what is rounded is kept")
			} else if step > 1 && low+32768 < values[len(values)-1] {
				require.Zero(t, mark)
			}
		}
	}
}

func BenchmarkTimingRound(b *testing.B) {
	g, _ := GridOf(5)
	random := rand.New(rand.NewSource(1))
	x, intervals := make([]int64, 4096), make([]int64, 4096)
	for i := range x {
		x[i] = int64(random.ExpFloat64() * 3000)
	}
	var r Rounder
	for b.Loop() {
		copy(intervals, x)
		r.Round(g, intervals)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/interval")
}
