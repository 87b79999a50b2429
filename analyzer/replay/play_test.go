package replay_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
	"github.com/cairn-mpi/cairn/analyzer/replay"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/tracetest"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
)

// simulated is the trace of a synthetic program.
func simulated(t *testing.T, config simulate.Config) timeline.Trace {
	t.Helper()
	s, err := simulate.New(config)
	require.NoError(t, err)
	contents, err := s.Contents()
	require.NoError(t, err)
	merged, err := merger.Merge(contents, merger.Options{Final: true})
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, trace.Write(&file, merged))
	r, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	require.NoError(t, err)
	return timeline.Of(r)
}

func play(t *testing.T, tr timeline.Trace, scenarios ...replay.Scenario) []int64 {
	t.Helper()
	lengths, err := replay.Play(context.Background(), tr, nil, scenarios)
	require.NoError(t, err)
	return lengths
}

func measured(t *testing.T, tr timeline.Trace) int64 {
	t.Helper()
	f, err := criticalpath.Analyze(context.Background(), tr, criticalpath.Options{})
	require.NoError(t, err)
	return int64(f.RunSeconds*1e9 + 0.5)
}

func patterns() []simulate.Config {
	var all []simulate.Config
	for _, name := range simulate.Names() {
		all = append(all,
			simulate.Config{Pattern: name, Ranks: 16, Imbalance: simulate.Imbalance{Noise: 30, SlowRank: 5, SlowPercent: 40}},
			simulate.Config{Pattern: name, Ranks: 16, Bytes: 200_000, Imbalance: simulate.Imbalance{Linear: 50}})
	}
	return all
}

func TestAsMeasuredNothingChanges(t *testing.T) {
	for _, config := range patterns() {
		tr := simulated(t, config)
		assert.Equal(t, measured(t, tr), play(t, tr, replay.Scenario{})[0], "%+v", config)
	}
}

func TestIdealNetworkIsNotSlower(t *testing.T) {
	for _, config := range patterns() {
		tr := simulated(t, config)
		lengths := play(t, tr, replay.Scenario{}, replay.Scenario{Network: &replay.Network{}})
		assert.Less(t, lengths[1], lengths[0], "%+v", config)
	}
}

// What a simulation says of the same program without its slow rank is what the replay predicts, to the nanosecond.
func TestPredictionOfABalancedRunIsExact(t *testing.T) {
	for _, pattern := range []string{"stencil2d", "stencil3d", "ring", "all-to-all", "butterfly", "tree", "hypercube", "transpose", "wavefront", "two-phase"} {
		balanced := simulate.Config{Pattern: pattern, Ranks: 16}
		slow := balanced
		slow.Imbalance = simulate.Imbalance{SlowRank: 6, SlowPercent: 50}
		tr := simulated(t, slow)
		lengths := play(t, tr, replay.Scenario{Compute: func(location int, _ replay.Region) float64 {
			if location == 6 {
				return 1 / 1.5
			}
			return 1
		}})
		expected := measured(t, simulated(t, balanced))
		assert.InDelta(t, expected, lengths[0], float64(expected)/1000, pattern)
	}
}

// By hand, in units: rank 1 computes 6 (2 to 8) before it sends; rank 0 waits from 3.
//
//	rank 0: Init 1-2, Recv 3-9, Finalize 10-11      rank 1: Init 1-2, Send 8-9, Finalize 10-11
//
// The receive's own cost is 9 − max(3, 8) = 1. With rank 1 three times as fast (send at 4), it ends at max(3, 4) + 1 = 5,
// Finalize begins at 6 on both and ends at 7: the run takes 6 in the place of 10. On an ideal network: Init takes nothing,
// so rank 1 sends at 7 and finalizes at 8, rank 0 receives at 7 and finalizes at 8: 7 from 1 on.
func TestByHand(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(1, 2).Recv(3, 9, 1, 8).Finalize(10, 11)
	b.Rank(1).Init(1, 2).Send(8, 9, 0).Finalize(10, 11)
	tr := timeline.Of(b.Open(t))
	lengths := play(t, tr,
		replay.Scenario{},
		replay.Scenario{Compute: func(location int, r replay.Region) float64 {
			if location == 1 && tr.Function(r.Before).Name == "MPI_Send" {
				return 1.0 / 3
			}
			return 1
		}},
		replay.Scenario{Network: &replay.Network{}},
		replay.Scenario{Network: &replay.Network{Latency: 2 * tracetest.Unit}},
		replay.Scenario{Free: func(function uint16, _ uint32) bool { return tr.Function(function).Name == "MPI_Recv" }},
	)
	// a latency of 2: Init ends at 1+2 = 3, rank 1 sends at 9, received at 11, Finalize at 12, ended at 14
	// a receive for nothing: it ends at 8, Finalize begins at 10 all the same on rank 1
	assert.Equal(t, []int64{10 * tracetest.Unit, 6 * tracetest.Unit, 7 * tracetest.Unit, 13 * tracetest.Unit, 10 * tracetest.Unit}, lengths)
}

// A rank that asks in vain at 3, 4 and 5 and is told at 6 has been waiting since 3.
func TestPollingIsWaiting(t *testing.T) {
	b := tracetest.New(2)
	q := tracetest.Request(0)
	r := b.Rank(0).Init(1, 2).Irecv(2.5, 2.6, 1, q)
	for _, at := range []float64{3, 3.05, 3.1} {
		r.Call("MPI_Test", at, at+0.02, tracetest.Args{"request": q, "flag": 0})
	}
	r.Call("MPI_Test", 3.15, 3.2, tracetest.Args{"request": q, "flag": 1, "status": tracetest.Status{Source: 1, Bytes: 8}}).Finalize(4.2, 5.2)
	b.Rank(1).Init(1, 2).Send(3.12, 3.15, 0).Finalize(4.2, 5.2)
	tr := timeline.Of(b.Open(t))
	lengths := play(t, tr, replay.Scenario{}, replay.Scenario{Network: &replay.Network{}})
	// ideal: Init takes nothing (1), rank 1 sends 1.12 later at 2.12 and finalizes 1.05 later at 3.17; rank 0 posts at
	// 1.5, polls from 1.9, is told at 2.12 and finalizes 1 later at 3.12; the last at 3.17
	assert.Equal(t, int64(4_200_000), lengths[0])
	assert.Equal(t, int64(2_170_000), lengths[1])
}
