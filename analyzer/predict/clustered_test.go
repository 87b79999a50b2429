package predict_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
)

// extrapolations converts a trace with all times to one of ranks that were clustered while they
// ran: there is a marker every few iterations, and from the third interval on, if a thread's calls
// equal those of the interval before, the lowest rank with the same calls is its lead. It returns
// the number of calls with extrapolated times.
func extrapolations(t *testing.T, c *trace.Content, iterations, per int) uint64 {
	var shapes []map[int]string // of the ranks: calls of each interval
	threads := c.Threads.List()
	for i := range threads {
		th := &threads[i]
		turn := th.Calls / uint64(iterations) // calls of an iteration; what is left is setup
		first := th.Calls - 1 - turn*uint64(iterations)
		if th.Calls < 1+turn*uint64(iterations) {
			turn--
			first = th.Calls - 1 - turn*uint64(iterations)
		}
		for k := 0; k <= iterations; k += per {
			th.CallsAtVotes = append(th.CallsAtVotes, first+turn*uint64(k))
		}
		cursor, err := c.Cursor(th.Rank, th.Thread)
		require.NoError(t, err)
		calls, vote := map[int]string{}, 0
		for cursor.Next() {
			e := cursor.Event()
			for vote < len(th.CallsAtVotes) && e.Index >= th.CallsAtVotes[vote] {
				vote++
			}
			calls[vote] += fmt.Sprintf("%s@%d ", e.Function.Name, e.Signature.Site)
		}
		require.NoError(t, cursor.Err())
		shapes = append(shapes, calls)
	}
	stood := uint64(0)
	for i := range threads {
		th := &threads[i]
		for vote := 3; vote < len(th.CallsAtVotes); vote++ {
			lead := 0
			for shapes[lead][vote] != shapes[i][vote] {
				lead++
			}
			if lead == i || shapes[i][vote] != shapes[i][vote-1] || shapes[lead][vote] != shapes[lead][vote-1] {
				continue
			}
			s := trace.Extrapolation{Vote: vote, Lead: lead}
			for k := th.CallsAtVotes[vote-1]; k < th.CallsAtVotes[vote]; k++ {
				s.Gap += th.Gaps[k]
				s.Duration += th.Durations[k]
				th.Gaps[k], th.Durations[k] = 0, 0
			}
			th.Extrapolations = append(th.Extrapolations, s)
		}
		stood += th.CallsExtrapolated()
	}
	c.Meta.Clustering = &trace.Clustering{}
	c.Threads = trace.NewThreadTable(threads...)
	return stood
}

// Chameleon's measure of a clustered trace: ACC = 1 − |t − t'| / t, where t and t' are the replay's
// predictions from the times of all ranks and from those of leads, on other networks: as measured,
// both are equal except for the last interval.
func TestAccuracyOfClusteredTraces(t *testing.T) {
	for _, config := range []simulate.Config{
		{Pattern: "stencil2d", Ranks: 36, Iterations: 60, Reduce: 1, Imbalance: simulate.Imbalance{Noise: 20}},
		{Pattern: "stencil2d", Ranks: 36, Iterations: 60, Reduce: 1, Imbalance: simulate.Imbalance{Noise: 20, SlowRank: 14, SlowPercent: 100}},
		{Pattern: "wavefront", Ranks: 36, Iterations: 60, Imbalance: simulate.Imbalance{Noise: 20}},
		{Pattern: "wavefront", Ranks: 36, Iterations: 60, Imbalance: simulate.Imbalance{Linear: 60}},
		{Pattern: "master-worker", Ranks: 9, Iterations: 60, Imbalance: simulate.Imbalance{Noise: 20}},
	} {
		s, err := simulate.New(config)
		require.NoError(t, err)
		contents, err := s.Contents()
		require.NoError(t, err)
		merged, err := merger.Merge(contents, merger.Options{Final: true})
		require.NoError(t, err)
		var lengths [2][]int64
		var share float64
		for i := range lengths {
			if i == 1 {
				share = float64(extrapolations(t, tracetest.InMemory(t, merged), config.Iterations, 5)) / float64(merged.Threads.Calls())
			}
			var file bytes.Buffer
			require.NoError(t, trace.Write(&file, merged))
			r, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
			require.NoError(t, err)
			lengths[i] = play(t, timeline.Of(r), predict.Scenario{}, predict.Scenario{Network: &predict.Network{}},
				predict.Scenario{Network: &predict.Network{Latency: 20_000, PerByte: 1}})
		}
		for k, name := range []string{"as measured", "ideal network", "slow network"} {
			full, clustered := float64(lengths[0][k]), float64(lengths[1][k])
			accuracy := 1 - math.Abs(full-clustered)/full
			t.Logf("%s, %d ranks, %+v, %s: %.0f%% of calls with a lead's times, ACC %.2f%%", config.Pattern, config.Ranks, config.Imbalance, name, 100*share, 100*accuracy)
			require.GreaterOrEqual(t, accuracy, 0.95, "%s, %s", config.Pattern, name)
		}
		require.Greater(t, share, 0.3, config.Pattern)
	}
}
