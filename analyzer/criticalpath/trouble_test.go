package criticalpath_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// TestRankEndedEarly: rank 1 is killed in its second receive at 60; rank 0 continues to 100. Rank
// 0's second message and the barrier that rank 1 never entered are reported.
func TestRankEndedEarly(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).At("a.c:1").Init(0, 5).At("a.c:2").Send(20, 21, 1).At("a.c:3").Send(70, 71, 1).At("a.c:4").Collective("MPI_Barrier", 80, 100)
	b.Rank(1).At("a.c:1").Init(0, 5).At("a.c:5").Recv(10, 22, 0, 8)
	b.Rank(1).Info().EndedEarly = "killed in MPI_Recv"
	f := analyze(t, b)
	assert.InDelta(t, 0.100, f.RunSeconds, 1e-9)
	assert.Equal(t, []string{
		"Rank 1 ended early (killed in MPI_Recv).",
		"Collective that some ranks never entered: 1 × MPI_Barrier at a.c:4 on rank 0.",
		"Send without receive: 1 × MPI_Send at a.c:3 on rank 0.",
	}, f.Notes)
	assert.Equal(t, map[string]float64{"late sender": 10}, waits(f))
	assert.Nil(t, f.Verdict.Rank, "one rank is left: nobody to compare it with: %s", f.Verdict.Text)
}

// TestRankWhoseEndIsNotStored: the pod of rank 1 was lost without a final checkpoint. Rank 0's
// operations with it after that are not an error.
func TestRankWhoseEndIsNotStored(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).At("a.c:1").Init(0, 5).At("a.c:2").Send(20, 21, 1).At("a.c:3").Send(70, 71, 1).At("a.c:4").Collective("MPI_Barrier", 80, 100)
	b.Rank(1).At("a.c:1").Init(0, 5).At("a.c:5").Recv(10, 22, 0, 8)
	b.Rank(1).Info().EndedEarly = trace.Running
	f := analyze(t, b)
	const notStored = "; the other side may not be stored: what rank 1 called last is not in the trace."
	assert.Contains(t, f.Notes, "Collective that some ranks never entered: 1 × MPI_Barrier at a.c:4 on rank 0"+notStored)
	assert.Contains(t, f.Notes, "Send without receive: 1 × MPI_Send at a.c:3 on rank 0"+notStored)
}

// TestMissingRank: the pod of rank 1 was lost with its trace. Its messages cannot be matched, but
// the collectives of the others can.
func TestMissingRank(t *testing.T) {
	b := tracetest.New(3)
	b.Rank(0).Init(0, 5).At("a.c:7").Recv(10, 40, 1, 8).Collective("MPI_Barrier", 50, 90).Finalize(95, 100)
	b.Rank(1).Init(0, 5).Send(39, 40, 0).Collective("MPI_Barrier", 60, 90).Finalize(95, 100)
	b.Rank(2).Init(0, 5).At("a.c:8").Send(20, 21, 1).Collective("MPI_Barrier", 88, 90).Finalize(95, 100)
	b.Without(1)
	f := analyze(t, b)
	assert.Equal(t, []string{
		"Missing from the trace: rank 1. How long others waited for missing ranks is not known.",
		"Receive from a rank that the trace lacks: 1 × MPI_Recv at a.c:7 on rank 0.",
		"Send to a rank that the trace lacks: 1 × MPI_Send at a.c:8 on rank 2.",
	}, f.Notes)
	assert.Equal(t, map[string]float64{"wait at barrier": 38}, waits(f))
}

// TestNothingAtAll: a trace without a call is a finding too.
func TestNothingAtAll(t *testing.T) {
	f := analyze(t, tracetest.New(2))
	assert.Zero(t, f.RunSeconds)
	assert.Nil(t, f.Verdict.Rank)
}

// clocks is a late-sender pattern on two nodes whose clocks differ by ahead units; both directions are bounded by
// messages. On a common clock: rank 1 waits 10 → 50 for rank 0, and rank 0 waits 60 → 70 for the answer.
func clocks(ahead, realtime float64) *tracetest.Builder {
	b := tracetest.New(2)
	b.Rank(0).Init(0, 5).Send(50, 51, 1).Recv(60, 72, 1, 8).Finalize(95, 100)
	b.Rank(1).Shift(ahead).Init(0, 5).Recv(10, 52, 0, 8).Send(70, 71, 0).Finalize(80, 85)
	other := b.Rank(1).Info()
	other.BootID, other.Host = "boot1", "host1"
	at := func(units float64) int64 { return int64(units * tracetest.Unit) }
	b.Rank(0).Info().Clock.Samples = samples(0, at(1000))
	other.Clock.Samples = samples(at(ahead), at(1000+realtime))
	return b
}

// TestClockOffsetFromWallClock: monotonic clocks of nodes count from boot; the wall clocks
// determine the offset.
func TestClockOffsetFromWallClock(t *testing.T) {
	for _, ahead := range []float64{0, 5000, -700} {
		f := analyze(t, clocks(ahead, 0))
		assert.Equal(t, map[string]float64{"late sender": 50}, waits(f))
		assert.InDelta(t, 0.100, f.RunSeconds, 1e-9)
		require.Len(t, f.Clock.Domains, 2)
		assert.InDelta(t, -ahead/1000, f.Clock.Domains[1].OffsetSeconds, 1e-9)
		// Rank 0's send began at 50 and was received by 52; rank 1's began at 70 and was received by 72: the offset is
		// known to ±2.
		assert.InDelta(t, 0.002, *f.Clock.ErrorSeconds, 1e-9)
	}
}

// TestClockOffsetFromMessages: the other node's wall clock is 30 behind, so that rank 1 would
// receive at 22 what rank 0 sent at 50. By the messages its offset is between −2 and +2 of the
// truth; the value nearest to the guess is used.
func TestClockOffsetFromMessages(t *testing.T) {
	f := analyze(t, clocks(5000, -30))
	assert.Zero(t, f.Clock.Violations)
	require.Len(t, f.Clock.Domains, 2)
	assert.InDelta(t, -5.030, f.Clock.Domains[1].GuessSeconds, 1e-9)
	assert.InDelta(t, -5.000, f.Clock.Domains[1].OffsetSeconds, 0.0021)
	assert.InDelta(t, 48, waits(f)["late sender"], 4.1)
}

// TestClockThatDrifts: no offset and rate satisfies all messages; the clock is moved forward where
// necessary, which is reported, and no effect precedes its cause.
func TestClockThatDrifts(t *testing.T) {
	b := tracetest.New(2)
	r0, r1 := b.Rank(0).Init(0, 5), b.Rank(1).Init(0, 5)
	for k := range 5 {
		at := float64(20 + 20*k)
		r0.Send(at, at+1, 1).Recv(at+2, at+6, 1, 8)
		r1.Shift(float64(3*k)).Recv(at-2, at+2, 0, 8).Send(at+4, at+5, 0) // gains 3 in each round
	}
	r0.Finalize(150, 160)
	r1.Finalize(150, 160)
	r1.Info().BootID = "boot1"
	f := analyze(t, b)
	assert.Zero(t, f.Clock.Violations)
	assert.Positive(t, f.Clock.Steps)
	assert.LessOrEqual(t, f.Clock.LargestStepSeconds, 0.012)
}
