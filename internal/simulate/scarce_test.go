package simulate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/trace"
)

// TestGainsAreNoMoreThanCPUsAllow: four ranks compute 5 ms a hundred times and wait 1 ms for a CPU
// each time; rank 1 is blocked for 8 ms more each time. Without that, an iteration would take 6 ms
// instead of 14 according to the replay. But if all ranks share two CPUs, it takes 4 × 5 / 2 = 10
// ms; with three, 6.7. If no rank has to wait, there are more CPUs than the ranks were seen on.
func TestGainsAreNoMoreThanCPUsAllow(t *testing.T) {
	const ms, iterations = time.Millisecond, 100
	for name, c := range map[string]struct {
		cpus    int
		delayed time.Duration
		gain    float64 // seconds
	}{
		"two CPUs":            {2, ms, 0.4},
		"three CPUs":          {3, ms, 0.733},
		"a CPU for each":      {4, ms, 0.8},
		"seen on two of many": {2, 0, 0.8},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := simulate.NewOf(simulate.Config{Pattern: "scarce", Ranks: 4, RanksPerNode: 4, Evidence: true}, func(r *simulate.Rank) {
				for k := range iterations {
					r.At(20).Barrier(r.World())
					r.Compute(5*ms + time.Duration(100*(k*7+r.Rank()*3)%11))
					r.Preempted(c.delayed)
					if r.Rank() == 1 {
						r.Blocked(8 * ms)
					}
				}
				r.At(30).Barrier(r.World())
			})
			require.NoError(t, err)
			f := judgedRun(t, s, func(r *trace.Rank) {
				for i := range r.Context {
					r.Context[i].CPU = int64((i + r.Rank) % c.cpus)
				}
			})
			require.Equal(t, verdict.Excess, f.Verdict.Blames, f.Verdict.Text)
			assert.Equal(t, "1", f.Verdict.Ranks)
			assert.InDelta(t, c.gain, *f.Verdict.GainSeconds, 0.02)
		})
	}
}
