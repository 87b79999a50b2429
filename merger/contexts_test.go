package merger

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
)

// What is left of a rank's samples says of every one that went what it counted, to within the tolerance, and what the counts
// grew by exactly.
func TestFewerContextSamples(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		var samples []trace.ContextSample
		s := trace.ContextSample{ThrottledPeriods: -1, ThrottledNS: -1, StealNS: -1}
		busy := random.Float64()
		for range random.IntN(64) {
			if random.IntN(8) == 0 {
				busy = random.Float64()
			}
			if random.IntN(16) == 0 {
				s.ThrottledPeriods, s.ThrottledNS = 0, 0 // a container that gets a limit
			}
			wall := 1 + random.Int64N(200_000_000)
			s.MonotonicNS, s.CPUNS = s.MonotonicNS+wall, s.CPUNS+int64(busy*float64(wall))
			s.RunDelayNS += int64((1 - busy) * float64(wall))
			s.VoluntarySwitches += random.Int64N(20)
			samples = append(samples, s)
		}
		got := fewerContext(samples)
		require.LessOrEqual(t, len(got), len(samples))
		if len(samples) == 0 {
			continue
		}
		first, last := samples[0], samples[len(samples)-1]
		require.Equal(t, first, got[0])
		require.Equal(t, last, got[len(got)-1])
		next := 0
		for _, s := range samples {
			for got[next].MonotonicNS < s.MonotonicNS {
				next++
			}
			after := got[next]
			if after == s {
				continue
			}
			before := got[next-1]
			share := float64(s.MonotonicNS-before.MonotonicNS) / float64(after.MonotonicNS-before.MonotonicNS)
			for _, c := range []struct {
				before, at, after, growth int64
				slack                     float64
			}{
				{before.CPUNS, s.CPUNS, after.CPUNS, last.CPUNS - first.CPUNS, 5e6},
				{before.RunDelayNS, s.RunDelayNS, after.RunDelayNS, last.RunDelayNS - first.RunDelayNS, 5e6},
				{before.VoluntarySwitches, s.VoluntarySwitches, after.VoluntarySwitches, last.VoluntarySwitches - first.VoluntarySwitches, 8},
			} {
				line := float64(c.before) + share*float64(c.after-c.before)
				require.InDelta(t, c.at, line, max(c.slack, float64(c.growth)/32)+1)
			}
			require.Equal(t, s.ThrottledNS, before.ThrottledNS)
		}
	}
}
