package predict_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// simulated is the trace of a synthetic program.
func simulated(t testing.TB, config simulate.Config) timeline.Trace {
	t.Helper()
	return timeline.Of(tracetest.Open(t, tracetest.Simulated(t, config)))
}

func play(t *testing.T, tr timeline.Trace, scenarios ...predict.Scenario) []int64 {
	t.Helper()
	lengths, err := predict.Play(context.Background(), tr, nil, scenarios)
	require.NoError(t, err)
	return lengths
}

func measured(t *testing.T, tr timeline.Trace) int64 {
	t.Helper()
	f, err := pass.Find(t.Context(), tr, run.Analysis.Pass)
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
		assert.Equal(t, measured(t, tr), play(t, tr, predict.Scenario{})[0], "%+v", config)
	}
}

func TestIdealNetworkIsNotSlower(t *testing.T) {
	for _, config := range patterns() {
		tr := simulated(t, config)
		lengths := play(t, tr, predict.Scenario{}, predict.Scenario{Network: &predict.Network{}})
		assert.Less(t, lengths[1], lengths[0], "%+v", config)
	}
}

// What a simulation says of the same program without its slow rank is what the replay predicts,
// to the nanosecond.
func TestPredictionOfABalancedRunIsExact(t *testing.T) {
	for _, pattern := range []string{"stencil2d", "stencil3d", "ring", "all-to-all", "butterfly", "tree", "hypercube", "transpose", "wavefront", "two-phase"} {
		balanced := simulate.Config{Pattern: pattern, Ranks: 16}
		slow := balanced
		slow.Imbalance = simulate.Imbalance{SlowRank: 6, SlowPercent: 50}
		tr := simulated(t, slow)
		lengths := play(t, tr, predict.Scenario{Compute: func(location int, _ predict.Region) float64 {
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
// The receive's own cost is 9 − max(3, 8) = 1. With rank 1 three times as fast (send at 4), it ends
// at max(3, 4) + 1 = 5, Finalize begins at 6 on both and ends at 7: the run takes 6 in the place
// of 10. On an ideal network: Init takes nothing, so rank 1 sends at 7 and finalizes at 8, rank 0
// receives at 7 and finalizes at 8: 7 from 1 on.
func TestByHand(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(1, 2).Recv(3, 9, 1, 8).Finalize(10, 11)
	b.Rank(1).Init(1, 2).Send(8, 9, 0).Finalize(10, 11)
	tr := timeline.Of(b.Open(t))
	lengths := play(t, tr,
		predict.Scenario{},
		predict.Scenario{Compute: func(location int, r predict.Region) float64 {
			if location == 1 && tr.Function(r.Before).Name == "MPI_Send" {
				return 1.0 / 3
			}
			return 1
		}},
		predict.Scenario{Network: &predict.Network{}},
		predict.Scenario{Network: &predict.Network{Latency: 2 * tracetest.Unit}},
		predict.Scenario{Keeps: func(function uint16, _ uint32) float64 {
			if tr.Function(function).Name == "MPI_Recv" {
				return 0
			}
			return 1
		}},
	)
	// a latency of 2: Init ends at 1+2 = 3, rank 1 sends at 9, received at 11, Finalize at 12,
	// ended at 14 a receive for nothing: it ends at 8, Finalize begins at 10 all the same on rank 1
	assert.Equal(t, []int64{10 * tracetest.Unit, 6 * tracetest.Unit, 7 * tracetest.Unit, 13 * tracetest.Unit, 10 * tracetest.Unit}, lengths)
}

// A rank that polls without success at 3, 4 and 5, and successfully at 6, has been waiting since 3.
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
	lengths := play(t, tr, predict.Scenario{}, predict.Scenario{Network: &predict.Network{}})
	// ideal: Init takes nothing (1), rank 1 sends 1.12 later at 2.12 and finalizes 1.05 later
	// at 3.17; rank 0 posts at 1.5, polls from 1.9, is told at 2.12 and finalizes 1 later at 3.12;
	// the last at 3.17
	assert.Equal(t, int64(4_200_000), lengths[0])
	assert.Equal(t, int64(2_170_000), lengths[1])
}

// With rounded times a receive may end before its message was sent (here by 0.01). It depends on it
// nevertheless: with rank 1 three times as fast (send at 4), it ends at 3.99, and Finalize begins
// at 6 on both.
func TestAMessageThatSeemsToComeEarlyIsWaitedFor(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(1, 2).Recv(3, 7.99, 1, 8).Finalize(10, 11)
	b.Rank(1).Init(1, 2).Send(8, 9, 0).Finalize(10, 11)
	tr := timeline.Of(b.Open(t))
	lengths := play(t, tr, predict.Scenario{}, predict.Scenario{Compute: func(location int, r predict.Region) float64 {
		if location == 1 && tr.Function(r.Before).Name == "MPI_Send" {
			return 1.0 / 3
		}
		return 1
	}})
	assert.Equal(t, []int64{10 * tracetest.Unit, 6 * tracetest.Unit}, lengths)
}

// Rank 0 receives twice: at once (the message takes 0.5 from its sending at 10, as the receive
// waits for it since 9), and after a long wait, during which it lost its processor (sent at 20,
// there at 23). Without the wait it would not have.
//
//	rank 0: Init 1-2, Recv 9-10.5, Recv 12-23, Finalize 24-25
//	rank 1: Init 1-2, Send 10-11, Send 20-21, Finalize 22-25
//
// With rank 1 sending the second at 12 (computing nothing since 11, of the send's 1): entered
// at 11, it is there at 11.5, before it is received; nobody waits, so the receive takes its 0.5 at
// most: from 12 to 12, Finalize 13 and 14. With the send at 16, half way (5 after 11, of 9): the
// receive waits 4 of 8, so half of the 2.5 beyond 0.5 is left: 16 + 0.5 + 1.25 = 17.75, Finalize
// begins at 18.75, ends 1 later, 18.75 from 1.
func TestWhatAWaitCostsGoesWithIt(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(1, 2).Recv(9, 10.5, 1, 8).Recv(12, 23, 1, 8).Finalize(24, 25)
	b.Rank(1).Init(1, 2).Send(10, 11, 0).Send(20, 21, 0).Finalize(22, 25)
	tr := timeline.Of(b.Open(t))
	quicker := func(factor float64) predict.Scenario {
		return predict.Scenario{Compute: func(location int, r predict.Region) float64 {
			if location == 1 && tr.Function(r.After).Name == "MPI_Send" && tr.Function(r.Before).Name == "MPI_Send" {
				return factor
			}
			return 1
		}}
	}
	lengths := play(t, tr, predict.Scenario{}, quicker(0), quicker(5.0/9))
	assert.Equal(t, []int64{24 * tracetest.Unit, 13 * tracetest.Unit, 18_750_000}, lengths)
}

// A large message moves only while both sides are inside MPI. Rank 1 posts its receive at 3 and
// computes until 10; rank 0 has waited in its send since 4. If rank 1 computes half as long, it is
// back at 6.6 (3.1 + 3.5), the send ends at 7.1 and Finalize is entered at 8.1 by rank 0, at 8.1 by
// rank 1, whose receive takes the 0.5 that it took.
func TestALargeMessageNeedsItsReceiverInMPI(t *testing.T) {
	b := tracetest.New(2)
	q := tracetest.Request(0)
	b.Rank(0).Init(1, 2).Call("MPI_Send", 4, 10.6, tracetest.Args{"dest": 1}).Finalize(11.6, 12.6)
	b.Rank(1).Init(1, 2).Irecv(3, 3.1, 0, q).Waitall(10.1, 10.6, tracetest.Requests{q}, tracetest.Status{Source: 0, Bytes: 1 << 20}).Finalize(11.6, 12.6)
	tr := timeline.Of(b.Open(t))
	lengths := play(t, tr, predict.Scenario{}, predict.Scenario{Compute: func(location int, r predict.Region) float64 {
		if location == 1 && tr.Function(r.Before).Name == "MPI_Waitall" {
			return 0.5
		}
		return 1
	}})
	assert.Equal(t, []int64{11_600_000, 8_100_000}, lengths)
}

// Four times, every 10 units, rank 0 sends 8 bytes at 4 and goes on at 8.1, since rank 1 receives
// them at 8, until 8.2. The first two of these sends do not prove that they waited for that. If
// rank 1 computes half as long before it receives, 4.9 in the place of 9.8, it is the one that
// waits from the second receive on. The first two sends last for 4.1 all the same, so the third is
// at 24; it takes no time, nor does the fourth at 29.9. The receive ends 0.2 later, Finalize is
// entered at 35.9.
func TestASmallSendMayWaitForItsReceiver(t *testing.T) {
	b := tracetest.New(2)
	sender, receiver := b.Rank(0).Init(1, 2), b.Rank(1).Init(1, 2)
	for i := range 4 {
		at := float64(10 * i)
		sender.Send(at+4, at+8.1, 1)
		receiver.Recv(at+8, at+8.2, 0, 8)
	}
	b.Ranks(func(_ int, r *tracetest.Rank) { r.Finalize(44, 45) })
	tr := timeline.Of(b.Open(t))
	lengths := play(t, tr, predict.Scenario{}, predict.Scenario{Compute: func(location int, r predict.Region) float64 {
		if location == 1 && tr.Function(r.Before).Name == "MPI_Recv" {
			return 0.5
		}
		return 1
	}})
	assert.Equal(t, []int64{44 * tracetest.Unit, 35_900_000}, lengths)
}

// Rank 1 sends a message at 3 that rank 0 receives only after thousands of others, and at once.
// That it was sent is remembered all that time: with rank 1 computing 10 times as long before it,
// rank 0 has to wait for all of them, each of which then comes 9 later.
func TestAMessageThatLiesForLong(t *testing.T) {
	const n = 6000
	b := tracetest.New(2)
	receiver, sender := b.Rank(0).Init(1, 2), b.Rank(1).Init(1, 2).Send(3, 3.1, 0)
	for i := range n {
		at := 4 + float64(i)
		receiver.Call("MPI_Recv", at, at+0.6, tracetest.Args{"source": 1, "tag": 7, "status": tracetest.Status{Source: 1, Tag: 7, Bytes: 8}})
		sender.Call("MPI_Send", at, at+0.1, tracetest.Args{"dest": 0, "tag": 7})
	}
	const end = 4 + float64(n)
	receiver.Recv(end, end+0.5, 1, 8).Finalize(end+1, end+2)
	sender.Finalize(end+1, end+2)
	tr := timeline.Of(b.Open(t))
	lengths := play(t, tr, predict.Scenario{}, predict.Scenario{Compute: func(location int, r predict.Region) float64 {
		if location == 1 && tr.Function(r.After).Name == "MPI_Init" {
			return 10
		}
		return 1
	}})
	assert.Equal(t, []int64{(n + 5) * tracetest.Unit, (n + 14) * tracetest.Unit}, lengths)
}

// A message that was sent before its receiver came, but is still under way, is waited for: with
// equal work a run in which latencies of messages show takes what its simulation does.
func TestMessageUnderWay(t *testing.T) {
	for _, latency := range []int64{20_000, 40_000, 80_000} {
		c := simulate.Config{Pattern: "stencil2d", Ranks: 16, Iterations: 50, Model: simulate.Model{Latency: latency}}
		c.Imbalance.Linear = 100 // from 0.1 to 0.2 ms
		tr := simulated(t, c)
		lengths := play(t, tr, predict.Scenario{Compute: func(location int, _ predict.Region) float64 { return 1.5 / (1 + float64(location)/15) }})
		c.Imbalance.Linear, c.Compute = 0, 150*time.Microsecond
		expected := measured(t, simulated(t, c))
		assert.InDelta(t, expected, lengths[0], float64(expected)/200, "latency %d", latency)
	}
}
