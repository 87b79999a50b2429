package analyzer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/analyses"
	"github.com/cairn-mpi/cairn/analyzer/analyses/placement"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// TestSharedPassesFindTheSame checks that analyses that run together, and share passes, find the
// same as each by itself with a given clock map. With correct clocks the pass that connects them is
// shared, with skewed ones it is not.
func TestSharedPassesFindTheSame(t *testing.T) {
	ctx := context.Background()
	for n, pattern := range simulate.Names() {
		for i, skew := range []time.Duration{0, 3 * time.Millisecond} {
			for k, timing := range []string{"lossless", "lossy 5", "aggregated"} {
				if testing.Short() && n%6 != 3*i+k { // each combination with some patterns
					continue
				}
				t.Run(fmt.Sprintf("%s/%v/%s", pattern, skew, timing), func(t *testing.T) {
					r := tracetest.Open(t, tracetest.Simulated(t, simulate.Config{
						Pattern: pattern, Ranks: 16, Iterations: 6, RanksPerNode: 8, Skew: []time.Duration{0, skew}, Timing: timing,
						Imbalance: simulate.Imbalance{Noise: 20, SlowRank: 3, SlowPercent: 30},
					}))
					together, made, err := analyzer.Run(ctx, r, nil)
					require.NoError(t, err)
					clocks, err := analyzer.Clock(ctx, r)
					require.NoError(t, err)
					made.Cuts = nil // found only by analyses that match calls
					assert.Equal(t, clocks, made)
					for _, a := range analyses.All() {
						name := a.Name()
						alone, _, err := analyzer.Run(ctx, r, clocks, name)
						require.NoError(t, err)
						assert.Equal(t, string(alone[name]), string(together[name]), name)
					}
				})
			}
		}
	}
}

// The better placement is replayed together with the what-ifs if both analyses run, otherwise in a
// pass of its own, with the same gain. A 4 x 4 stencil on nodes of 4 has rows on nodes, with 12 of
// 24 edges between them; blocks of 2 x 2 have 8. Messages of 64 KiB need handshakes.
func TestSharedReplayOfThePlacementFindsTheSame(t *testing.T) {
	ctx := context.Background()
	for _, size := range []int{1000, 65536} {
		r := tracetest.Open(t, tracetest.Simulated(t, simulate.Config{
			Pattern: "stencil2d", Ranks: 16, Iterations: 20, RanksPerNode: 4, Bytes: size, Imbalance: simulate.Imbalance{Noise: 20},
		}))
		together, clocks, err := analyzer.Run(ctx, r, nil)
		require.NoError(t, err)
		alone, _, err := analyzer.Run(ctx, r, clocks, "placement")
		require.NoError(t, err)
		for _, raw := range [][]byte{together["placement"], alone["placement"]} {
			var found placement.Findings
			require.NoError(t, json.Unmarshal(raw, &found))
			require.NotNil(t, found.Placement.Gain, found.Placement.Text)
			assert.EqualValues(t, found.Placement.CrossingMessages*8/12, found.Placement.PredictedMessages)
		}
		assert.Equal(t, string(alone["placement"]), string(together["placement"]))
	}
}
