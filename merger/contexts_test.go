package merger

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
)

// The samples of a finished trace have the growth of every count over the run, if it is known at
// the beginning and at the end, and every CPU that a rank ran on, as far as there are enough
// samples.
func TestContextOfARun(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		cpus, seen, kept := seenCPUs{}, map[int64]bool{}, map[int64]bool{}
		for range 1 + random.IntN(20) {
			var samples []trace.ContextSample
			s := trace.ContextSample{ThrottledPeriods: -1, ThrottledNS: -1, StealNS: -1, CPUNS: random.Int64N(1 << 40), RunDelayNS: random.Int64N(2) << 20}
			for range random.IntN(33) {
				if s.ThrottledNS < 0 && random.IntN(16) == 0 {
					s.ThrottledPeriods, s.ThrottledNS = 0, 0 // a container that gets a limit
				}
				s.MonotonicNS, s.CPUNS = s.MonotonicNS+1+random.Int64N(1<<27), s.CPUNS+random.Int64N(1<<27)
				s.VoluntarySwitches += random.Int64N(20)
				if s.RunDelayNS > 0 && random.IntN(4) == 0 {
					s.RunDelayNS += random.Int64N(1 << 27)
				}
				if s.ThrottledNS >= 0 {
					s.ThrottledNS += random.Int64N(1 << 20)
				}
				s.CPU = random.Int64N(4) - 1
				samples = append(samples, s)
			}
			r := trace.Rank{BootID: "one", Context: samples}
			got := cpus.ofRun(&r, false)
			if len(samples) == 0 {
				require.Empty(t, got)
				continue
			}
			require.LessOrEqual(t, len(got), 3)
			first, last := samples[0], samples[len(samples)-1]
			from, to := got[0], got[len(got)-1]
			require.Equal(t, first.MonotonicNS, from.MonotonicNS)
			require.Equal(t, last.MonotonicNS, to.MonotonicNS)
			require.Zero(t, from.CPUNS+from.VoluntarySwitches)
			require.Equal(t, last.CPUNS-first.CPUNS, to.CPUNS)
			require.Equal(t, last.VoluntarySwitches-first.VoluntarySwitches, to.VoluntarySwitches)
			require.Equal(t, last.RunDelayNS-first.RunDelayNS, to.RunDelayNS-from.RunDelayNS)
			require.Equal(t, last.RunDelayNS > 0, to.RunDelayNS > 0, "whether it is counted")
			require.Equal(t, first.ThrottledNS < 0, from.ThrottledNS < 0)
			require.Equal(t, last.ThrottledNS < 0, to.ThrottledNS < 0)
			if first.ThrottledNS >= 0 {
				require.Equal(t, last.ThrottledNS-first.ThrottledNS, to.ThrottledNS-from.ThrottledNS)
			}
			for _, s := range samples {
				seen[s.CPU] = true
			}
			for _, s := range got {
				kept[s.CPU] = true
			}
			require.GreaterOrEqual(t, len(kept), min(len(seen), len(got)-1))
		}
		for cpu := range kept {
			require.True(t, seen[cpu])
		}
	}
	cpus := seenCPUs{}
	on := func(cpus ...int64) *trace.Rank {
		r := &trace.Rank{Host: "h"}
		for i, cpu := range cpus {
			r.Context = append(r.Context, trace.ContextSample{MonotonicNS: int64(i), CPU: cpu})
		}
		return r
	}
	require.Len(t, cpus.ofRun(on(0, 1, 0), false), 3, "a CPU without a sample")
	require.Len(t, cpus.ofRun(on(0, 1, 0), false), 2, "one that is known")
	require.Len(t, cpus.ofRun(on(0, 2, 3, 0), false), 3, "one at most")
	require.Len(t, cpus.ofRun(on(2, 3, 1), false), 3)
}

// The remaining samples of a rank reproduce every omitted one to within the tolerance, and the
// growth of the counts exactly.
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

// A sample is omitted if it lies between its neighbors to within the tolerance: 5 ms, or 8 events,
// or a 32nd of the growth of the count over the run.
func TestContextSamplesOnALineAreOmitted(t *testing.T) {
	const n, step = 65, 1_000_000
	for _, c := range []struct {
		what     string
		growth   int64 // of a count over the run
		off      int64 // of the count of the sample in the middle from the line
		switches bool  // the count is that of switches, not the CPU time
		omitted  bool
	}{
		{"idle", 0, 0, false, true},
		{"even", 64 * step, 0, false, true},
		{"within 5 ms", 64 * step, 4_900_000, false, true},
		{"beyond 5 ms", 64 * step, 5_100_000, false, false},
		{"within a share", 6400 * step, 190_000_000, false, true},
		{"beyond a share", 6400 * step, 210_000_000, false, false},
		{"within 8 switches", 64, 7, true, true},
		{"beyond 8 switches", 64, 9, true, false},
		{"within a share of the switches", 6400, 190, true, true},
		{"beyond a share of the switches", 6400, 210, true, false},
	} {
		for _, sign := range []int64{1, -1} {
			var samples []trace.ContextSample
			for i := range int64(n) {
				s := trace.ContextSample{MonotonicNS: i * step, ThrottledPeriods: -1, ThrottledNS: -1, StealNS: -1}
				count := c.growth * i / (n - 1)
				if i == n/2 {
					count += sign * c.off
				}
				if c.switches {
					s.InvoluntarySwitches = count
				} else {
					s.CPUNS = count
				}
				samples = append(samples, s)
			}
			got := fewerContext(samples)
			if c.omitted {
				require.Equal(t, []trace.ContextSample{samples[0], samples[n-1]}, got, c.what)
			} else {
				require.Contains(t, got, samples[n/2], c.what)
			}
		}
	}
}
