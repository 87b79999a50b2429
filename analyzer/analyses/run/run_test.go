package run_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
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
	f := analyzertest.Built(t, b)
	assert.InDelta(t, 0.100, f.RunSeconds, 1e-9)
	assert.Equal(t, []string{
		"Rank 1 ended early (killed in MPI_Recv).",
		"Collective that some ranks never entered: 1 × MPI_Barrier at a.c:4 on rank 0.",
		"Send without receive: 1 × MPI_Send at a.c:3 on rank 0.",
	}, f.Notes)
	assert.Equal(t, map[string]float64{"late sender": 10}, f.Waited())
	assert.Nil(t, f.Verdict.Rank, "one rank is left: nobody to compare it with: %s", f.Verdict.Text)
}

// TestRankWhoseEndIsNotStored: the pod of rank 1 was lost without a final checkpoint. Rank 0's
// operations with it after that are not an error.
func TestRankWhoseEndIsNotStored(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).At("a.c:1").Init(0, 5).At("a.c:2").Send(20, 21, 1).At("a.c:3").Send(70, 71, 1).At("a.c:4").Collective("MPI_Barrier", 80, 100)
	b.Rank(1).At("a.c:1").Init(0, 5).At("a.c:5").Recv(10, 22, 0, 8)
	b.Rank(1).Info().EndedEarly = trace.Running
	f := analyzertest.Built(t, b)
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
	f := analyzertest.Built(t, b)
	assert.Equal(t, []string{
		"Missing from the trace: rank 1. How long others waited for missing ranks is not known.",
		"Receive from a rank that the trace lacks: 1 × MPI_Recv at a.c:7 on rank 0.",
		"Send to a rank that the trace lacks: 1 × MPI_Send at a.c:8 on rank 2.",
	}, f.Notes)
	assert.Equal(t, map[string]float64{"wait at barrier": 38}, f.Waited())
}

// Rank 0 sends three messages; rank 1 receives one and posts a receive for another, which it never
// waits for. The third is reported, with rank and call site, and does not affect other findings.
func TestUnmatchedOperationsAreNamed(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).At("u.c:1").Init(0, 10).At("u.c:2").Send(20, 21, 1).At("u.c:3").Send(22, 23, 1).Send(24, 25, 1).At("u.c:9").Finalize(60, 61)
	b.Rank(1).At("u.c:1").Init(0, 10).At("u.c:5").Recv(15, 21, 0, 8).At("u.c:6").Irecv(22, 23, 0, tracetest.Request(0)).At("u.c:9").Finalize(60, 61)
	f := analyzertest.Built(t, b)
	assert.Equal(t, map[string]float64{"late sender": 5}, f.Waited())
	assert.ElementsMatch(t, []string{"Send without receive: 1 × MPI_Send at u.c:3 on rank 0."}, f.Notes)
}

// A message seems to arrive 0.05 units before it was sent, which is a violation, unless 5% of 1
// unit were rounded on both ranks. Another one does by 3 units, which is a violation in any case.
func TestWhatRoundingExplainsIsNoViolation(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(0, 5).Recv(6, 7, 1, 8).Recv(8, 9, 1, 8).Finalize(20, 21)
	b.Rank(1).Init(0, 5).Send(7.05, 8.05, 0).Send(12, 13, 0).Finalize(20, 21)
	f := analyzertest.Content(t, tracetest.Rounded(t, b.Content(), "lossless"))
	assert.Zero(t, f.Clock.WithinRounding)
	assert.Equal(t, 2, f.Clock.Violations)
	assert.InDelta(t, 0.003, f.Clock.WorstSeconds, 1e-9)
	f = analyzertest.Content(t, tracetest.Rounded(t, b.Content(), "lossy 5"))
	assert.Equal(t, 1, f.Clock.WithinRounding)
	assert.Equal(t, 1, f.Clock.Violations)
	assert.InDelta(t, 0.003, f.Clock.WorstSeconds, 0.00015)
}
