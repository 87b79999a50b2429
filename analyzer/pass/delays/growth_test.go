package delays

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// Ranks that communicate with one of many others at random are rarely in step with each of them, so
// every wait has a long interval. The work is nevertheless bounded by a number of spans per call
// and per wait.
func TestRootCausesGrowInProportion(t *testing.T) {
	for _, iterations := range []int{100, 400} {
		r := tracetest.Open(t, tracetest.Simulated(t, simulate.Config{
			Pattern: "random", Ranks: 64, Iterations: iterations, Imbalance: simulate.Imbalance{Noise: 100},
		}))
		passes := pass.Begin(t.Context(), timeline.Of(r), matching.Pass)
		f, err := matching.Pass.Of(t.Context(), passes)
		require.NoError(t, err)
		// as it is, and with nothing left from the beginning
		for _, spent := range []int{0, math.MinInt / 2} {
			d := newDelays(f)
			d.unspent = spent
			require.NoError(t, d.follow(t.Context()))
			calls := int(r.Threads().Calls())
			t.Logf("%d spans looked at, %d calls, %d waits, %d of them shortened", d.looked, calls, d.explained, d.shortened)
			require.Greater(t, d.explained, iterations)
			if spent == 0 {
				require.LessOrEqual(t, d.looked, spansPerCall*calls+2*minSpansPerWait*d.explained)
				continue
			}
			require.Greater(t, d.shortened, d.explained/100)
			require.LessOrEqual(t, d.looked, 2*minSpansPerWait*d.explained)
			require.Len(t, d.Notes(), 1)
		}
		require.NoError(t, passes.Close())
	}
}
