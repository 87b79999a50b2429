package criticalpath_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// Within 5% of the longest intervals that both ranks had lately (19 each, so 1.9) a message may seem to arrive before it
// was sent: rounded times say so, not clocks. The first message does by 0.5, the second by 3, which is a finding.
func TestWhatRoundingExplainsIsNoViolation(t *testing.T) {
	b := tracetest.New(2)
	b.Meta().Timing = trace.TimingSettings{Mode: trace.TimingLossy, ErrorPercent: 5}
	both := func(r *tracetest.Rank) *tracetest.Rank {
		return r.Init(0, 5).Collective("MPI_Barrier", 24, 25).Collective("MPI_Barrier", 44, 45)
	}
	both(b.Rank(0)).Recv(46, 60, 1, 8).Recv(62, 70, 1, 8).Finalize(80, 81)
	both(b.Rank(1)).Send(60.5, 61, 0).Send(73, 74, 0).Finalize(80, 81)
	f := analyze(t, b)
	assert.Equal(t, 1, f.Clock.WithinRounding)
	assert.Equal(t, 1, f.Clock.Violations)
	assert.InDelta(t, 0.003, f.Clock.WorstSeconds, 1e-9)
	require.Len(t, f.Notes, 1)
	assert.Contains(t, f.Notes[0], "Messages that seem to arrive before they were sent, but by no more than that: 1.")
}
