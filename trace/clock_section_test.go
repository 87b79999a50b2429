package trace

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

// The clocks of any ranks are kept to the last bit, also such as no machine has.
func TestClocksAreKept(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var ranks []Rank
		for k := range random.IntN(6) {
			r := Rank{Rank: k, BootID: string(rune('a' + random.IntN(2))), StartRealtimeNS: random.Int64() >> random.IntN(60)}
			for range random.IntN(4) {
				r.Clock.Samples = append(r.Clock.Samples, timing.ClockSample{
					Ticks:       int64(random.Uint64()) >> random.IntN(64),
					MonotonicNS: int64(random.Uint64()) >> random.IntN(64),
					RealtimeNS:  int64(random.Uint64()) >> random.IntN(64),
				})
			}
			ranks = append(ranks, r)
		}
		c := &Content{Ranks: NewRankTable(ranks...)}
		got, err := opened(t, written(t, c)).Content()
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(ranks, got.Ranks.List(), cmpopts.EquateEmpty()))
	}
	extreme := []Rank{{Clock: timing.Clock{Samples: []timing.ClockSample{{Ticks: math.MinInt64, MonotonicNS: math.MaxInt64, RealtimeNS: 0}, {Ticks: math.MaxInt64, MonotonicNS: math.MinInt64, RealtimeNS: -1}}}, StartRealtimeNS: math.MinInt64}}
	got, err := opened(t, written(t, &Content{Ranks: NewRankTable(extreme...)})).Content()
	require.NoError(t, err)
	require.Equal(t, extreme, got.Ranks.List())
}

// Ranks of one node take 20 bytes each for two samples and a start.
func TestClocksOfANodeAreSmall(t *testing.T) {
	of := func(n int) int {
		random := rand.New(rand.NewPCG(3, 4))
		var ranks []Rank
		for k := range n {
			at := random.Int64N(100_000_000)
			r := Rank{Rank: k, BootID: "one", PID: 100 + k, Clock: timing.Clock{Kind: "tsc"}}
			for range 2 {
				r.Clock.Samples = append(r.Clock.Samples, timing.ClockSample{Ticks: 1<<50 + at*3, MonotonicNS: 1<<48 + at + random.Int64N(60), RealtimeNS: 1<<60 + at + random.Int64N(60)})
				at += 10_000_000_000 + random.Int64N(1_000_000)
			}
			r.StartRealtimeNS = r.Clock.Samples[0].RealtimeNS - random.Int64N(1_000_000)
			ranks = append(ranks, r)
		}
		return len(written(t, &Content{Ranks: NewRankTable(ranks...)}))
	}
	require.LessOrEqual(t, of(101)-of(1), 20*100)
}
