package analyzer_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/tracetest"
	"github.com/cairn-mpi/cairn/internal/simulate"
)

// TestSharedPassesFindTheSame: analyses that run together share passes; they find what each finds alone with a clock map
// that was made before. On clocks that are right the pass that binds them is shared, on skewed ones it is not.
func TestSharedPassesFindTheSame(t *testing.T) {
	ctx := context.Background()
	for _, pattern := range simulate.Names() {
		for _, skew := range []time.Duration{0, 3 * time.Millisecond} {
			for _, timing := range []string{"lossless", "lossy 5", "aggregated"} {
				t.Run(fmt.Sprintf("%s/%v/%s", pattern, skew, timing), func(t *testing.T) {
					r := tracetest.Open(t, tracetest.Simulated(t, simulate.Config{
						Pattern: pattern, Ranks: 16, Iterations: 6, RanksPerNode: 8, Skew: []time.Duration{0, skew}, Timing: timing,
						Imbalance: simulate.Imbalance{Noise: 20, SlowRank: 3, SlowPercent: 30},
					}))
					together, made, err := analyzer.All(ctx, r, nil)
					require.NoError(t, err)
					clocks, err := analyzer.Clock(ctx, r)
					require.NoError(t, err)
					made.Cuts = nil // which only an analysis that matches finds
					assert.Equal(t, clocks, made)
					for _, name := range analyzer.Names() {
						alone, err := analyzer.Run(ctx, r, clocks, name)
						require.NoError(t, err)
						assert.Equal(t, string(alone[name]), string(together[name]), name)
					}
				})
			}
		}
	}
}
