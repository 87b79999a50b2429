package merger

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// The remaining samples of a clock reproduce every omitted one to within the tolerance.
func TestThinnedClocks(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		var samples []timing.ClockSample
		var s timing.ClockSample
		rate, step := 0.3333, int64(0)
		for range random.IntN(64) {
			if random.IntN(10) == 0 {
				rate *= 1 + (random.Float64()-0.5)/1e4 // the kernel adjusts the rate of the clock
			}
			if random.IntN(20) == 0 {
				step += 1_000_000 // the clock is set
			}
			ticks := 1 + random.Int64N(1_000_000_000)
			s.Ticks, s.MonotonicNS = s.Ticks+ticks, s.MonotonicNS+int64(rate*float64(ticks))+random.Int64N(40)
			s.RealtimeNS = s.MonotonicNS + 1<<60 + step
			samples = append(samples, s)
		}
		for _, tolerance := range []int64{50, 1000} {
			got := thinned(samples, tolerance)
			assert.LessOrEqual(t, len(got), len(samples))
			at := (&timing.Clock{Kind: "tsc", Samples: got}).Nanoseconds()
			for _, s := range samples {
				require.InDelta(t, s.MonotonicNS, at(s.Ticks), float64(tolerance)+2)
			}
		}
	}
	even := []timing.ClockSample{{Ticks: 0}, {Ticks: 10, MonotonicNS: 10, RealtimeNS: 10}, {Ticks: 20, MonotonicNS: 20, RealtimeNS: 20}}
	require.Equal(t, []timing.ClockSample{even[0], even[2]}, thinned(even, 0))
	stepped := []timing.ClockSample{even[0], {Ticks: 10, MonotonicNS: 10, RealtimeNS: 5000}, {Ticks: 20, MonotonicNS: 20, RealtimeNS: 5010}}
	require.Equal(t, stepped, thinned(stepped, 1000), "a step of the time of day is kept")
}

// Ranks of a node share clock samples that agree for every tick sampled by one of them, to within
// the tolerance; others keep their own.
func TestSharedClocks(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 7))
	const tolerance = 1000
	clocks := sharedClocks{tolerance, map[string]*sharedClock{}}
	shared := 0
	for rank := range 300 {
		node := random.IntN(3)
		skew := int64(0)
		if random.IntN(10) == 0 {
			skew = 5000 // a clock of its own
		}
		r := trace.Rank{Rank: rank, BootID: string(rune('a' + node)), Clock: timing.Clock{Kind: "tsc"}}
		for k := range 2 + random.Int64N(3) {
			ticks := (k*1_000_000_000 + random.Int64N(1_000_000)) * 3
			ns := ticks/3 + int64(node)*1e12 + random.Int64N(100)
			r.Clock.Samples = append(r.Clock.Samples, timing.ClockSample{Ticks: ticks, MonotonicNS: ns + k*skew, RealtimeNS: ns + 1<<60})
		}
		got := clocks.samplesOf(&r)
		at := (&timing.Clock{Kind: "tsc", Samples: got}).Nanoseconds()
		for _, s := range r.Clock.Samples {
			require.InDelta(t, s.MonotonicNS, at(s.Ticks), tolerance+2)
		}
		if got[0] != r.Clock.Samples[0] {
			shared++
		}
	}
	require.Greater(t, shared, 150)
	alone := trace.Rank{Clock: timing.Clock{Samples: []timing.ClockSample{{}, {Ticks: 5, MonotonicNS: 5, RealtimeNS: 5}}}}
	require.Equal(t, alone.Clock.Samples, clocks.samplesOf(&alone), "nobody knows which node")
	require.Empty(t, clocks.samplesOf(&trace.Rank{BootID: "a"}))
}

func TestStartsAreRounded(t *testing.T) {
	var s starts
	require.EqualValues(t, 12345, s.of(12345))
	for d, want := range map[int64]int64{1<<19 - 1: 0, 1 << 19: 1 << 20, -(1 << 19): 0, -(1 << 19) - 1: -(1 << 20), 7 << 20: 7 << 20} {
		require.Equal(t, 12345+want, s.of(12345+d), d)
	}
}
