package criticalpath_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// roundedFindings analyzes the trace as recorded with other settings of timing.
func roundedFindings(t *testing.T, b *tracetest.Builder, timing string) criticalpath.Findings {
	return analyzeContent(t, tracetest.Rounded(t, b.Content(), timing))
}

// A message seems to arrive 0.05 units before it was sent, which is a violation, unless 5% of 1
// unit were rounded on both ranks. Another one does by 3 units, which is a violation in any case.
func TestWhatRoundingExplainsIsNoViolation(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(0, 5).Recv(6, 7, 1, 8).Recv(8, 9, 1, 8).Finalize(20, 21)
	b.Rank(1).Init(0, 5).Send(7.05, 8.05, 0).Send(12, 13, 0).Finalize(20, 21)
	f := roundedFindings(t, b, "lossless")
	assert.Zero(t, f.Clock.WithinRounding)
	assert.Equal(t, 2, f.Clock.Violations)
	assert.InDelta(t, 0.003, f.Clock.WorstSeconds, 1e-9)
	f = roundedFindings(t, b, "lossy 5")
	assert.Equal(t, 1, f.Clock.WithinRounding)
	assert.Equal(t, 1, f.Clock.Violations)
	assert.InDelta(t, 0.003, f.Clock.WorstSeconds, 0.00015)
}

// late returns a program whose receiver is 50 ms late four times, in whole ms. Rank 0 sends at 300
// + 60k and returns 0.005 after the receiver's entry. MPI_Init takes 300.
func late(n int, send func(r *tracetest.Rank, enter, exit float64)) *tracetest.Builder {
	b := tracetest.New(2)
	r0, r1 := b.Rank(0).Init(0, 300), b.Rank(1).Init(0, 300)
	for k := range n {
		at := 300.037 + 60.0113*float64(k)
		came := at + 49.871 + 0.317*float64(k)
		send(r0, at, came+0.005)
		r1.Recv(came, came+0.004, 0, 1<<20)
	}
	end := 300 + 61*float64(n)
	r0.Finalize(end, end+1)
	r1.Finalize(end, end+1)
	return b
}

// All four late receivers are found at any error: 49.871, 50.188, 50.505 and 50.822 ms, each within
// the error of two times. Regression: at 5% three of four were lost, because the send seemed to end
// before the receive began.
func TestNoLateReceiverIsLostByRounding(t *testing.T) {
	sends := map[string]func(r *tracetest.Rank, enter, exit float64){
		"MPI_Ssend":      func(r *tracetest.Rank, enter, exit float64) { r.Ssend(enter, exit, 1) },
		"large MPI_Send": func(r *tracetest.Rank, enter, exit float64) { r.Send(enter, exit, 1) },
	}
	for name, send := range sends {
		for _, timing := range []string{"lossless", "lossy 1", "lossy 5", "lossy 20", "lossy 50"} {
			f := roundedFindings(t, late(4, send), timing)
			found := false
			for _, w := range f.WaitStates {
				if found = found || w.Kind == "late receiver"; w.Kind == "late receiver" {
					assert.Equal(t, 4, w.Count, "%s, %s", name, timing)
					assert.InDelta(t, 0.201386, w.Seconds, 4*2*66e-6, "%s, %s", name, timing)
				}
			}
			require.True(t, found, "%s, %s: %v", name, timing, f.WaitStates)
		}
	}
}
