package clock

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace/timing"
)

// A fakeNode has a time stamp counter with an even rate, a monotonic clock whose rate changes, and
// a wall clock that is also set.
type fakeNode struct {
	begins []float64 // seconds by the counter
	at     []float64 // monotonic seconds
	rates  []float64
	steps  []float64 // when the wall clock is set, and by how much
	by     []float64
}

func newFakeNode(random *rand.Rand, seconds, ppm float64) *fakeNode {
	n := &fakeNode{}
	monotonic := 0.0
	for t := 0.0; t < seconds; {
		rate := 1 + ppm*1e-6*(2*random.Float64()-1)
		n.begins, n.at, n.rates = append(n.begins, t), append(n.at, monotonic), append(n.rates, rate)
		length := 300 + 1500*random.Float64() // from one answer of a time server to the next
		t, monotonic = t+length, monotonic+length*rate
	}
	for range 3 {
		n.steps, n.by = append(n.steps, seconds*random.Float64()), append(n.by, 4*random.Float64()-2)
	}
	return n
}

func (n *fakeNode) monotonic(t float64) float64 {
	i := len(n.begins) - 1
	for n.begins[i] > t {
		i--
	}
	return n.at[i] + (t-n.begins[i])*n.rates[i]
}

func (n *fakeNode) wall(t float64) float64 {
	m := n.monotonic(t)
	for i, step := range n.steps {
		if step <= t {
			m += n.by[i]
		}
	}
	return m
}

const hertz = 2.5e9

func (n *fakeNode) sample(t, jitter float64) timing.ClockSample {
	return timing.ClockSample{
		Ticks: int64(t * hertz), MonotonicNS: int64(1e9*n.monotonic(t) + jitter), RealtimeNS: int64(1e9*(1000+n.wall(t)) + jitter),
	}
}

// Ranks of one node, each with samples at other times, agree about all times of three days while
// NTP changes the rate of the clock and sets it; and the number of their samples is limited.
func TestClocksOverDays(t *testing.T) {
	const seconds = 3 * 86400
	seeds := uint64(5)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 11))
		node := newFakeNode(random, seconds, 50)
		var ranks [][]timing.ClockSample
		var times []func(int64) int64
		for range 3 {
			var samples []timing.ClockSample
			for at := 1.0; at < seconds; at += 1 + 20*random.Float64() {
				samples = Append(samples, node.sample(at, 40*random.Float64()))
			}
			require.LessOrEqual(t, len(samples), maxSamples)
			clock := timing.Clock{Kind: "tsc", Samples: samples}
			ranks, times = append(ranks, samples), append(times, clock.Nanoseconds())
		}
		worst := 0.0
		for range 20_000 {
			at := 30 + (seconds-60)*random.Float64()
			for i := range ranks {
				worst = max(worst, math.Abs(float64(times[i](int64(at*hertz)))-1e9*node.monotonic(at)))
			}
		}
		require.Less(t, worst, 500_000.0, "seed %d: ns, within the 20 s from one sample to the next", seed)
		// the change of the wall clock can be determined at each step
		for i, step := range node.steps {
			for _, samples := range ranks {
				before, after := nearest(samples, int64(step*hertz))
				if step < 30 || step > seconds-30 {
					continue
				}
				moved := float64(after.RealtimeNS-after.MonotonicNS-before.RealtimeNS+before.MonotonicNS) / 1e9
				require.InDelta(t, node.by[i], moved, 1e-6, "seed %d", seed)
				require.Less(t, float64(after.Ticks-before.Ticks), 2*21*hertz)
			}
		}
	}
}

func nearest(samples []timing.ClockSample, ticks int64) (before, after timing.ClockSample) {
	for _, s := range samples {
		if s.Ticks <= ticks {
			before = s
		} else {
			return before, s
		}
	}
	return before, after
}

// Few samples of clocks with an even rate are kept, from the first to the last.
func TestEvenClocksHaveFewSamples(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 12))
	node := &fakeNode{begins: []float64{0}, at: []float64{5}, rates: []float64{1.00003}}
	var samples []timing.ClockSample
	for at := range 10_000 {
		samples = Append(samples, node.sample(float64(at), 40*random.Float64()))
		require.LessOrEqual(t, len(samples), maxEvenSamples)
		require.Equal(t, node.sample(float64(at), 0).Ticks, samples[len(samples)-1].Ticks)
		require.Zero(t, samples[0].Ticks)
	}
}
