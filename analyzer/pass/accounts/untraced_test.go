package accounts_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// TestUntracedRegion: both ranks turn tracing off from 20 to 60. That time is unknown: it is not
// computation, and an operation that was recorded nevertheless, for its request, finds no partner
// outside the region.
func TestUntracedRegion(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(0, 5).Call("MPI_Pcontrol", 20, 20, nil).Untraced().Call("MPI_Pcontrol", 60, 60, tracetest.Args{"level": 1}).
		Send(80, 81, 1).Finalize(95, 100)
	b.Rank(1).Init(0, 5).Call("MPI_Pcontrol", 20, 20, nil).
		Untraced().Call("MPI_Irecv", 30, 31, tracetest.Args{"source": 0, "request": tracetest.Request(0)}).
		Untraced().Call("MPI_Wait", 40, 41, tracetest.Args{"request": tracetest.Request(0)}).
		Untraced().Call("MPI_Pcontrol", 60, 60, tracetest.Args{"level": 1}).
		Recv(70, 82, 0, 8).Finalize(95, 100)
	f := analyzertest.Built(t, b)
	assert.InDelta(t, 0.100, f.RunSeconds, 1e-9)
	assert.Equal(t, map[string]float64{"late sender": 10}, f.Waited())
	assert.Contains(t, f.Notes, "Tracing was off (MPI_Pcontrol) for 0.078 s of the time of rank 0-1: it counts neither as computation nor as MPI, and messages of that time are not known.")
	for _, r := range f.Ranks {
		assert.Less(t, r.Computation, 0.060, "rank %d", r.Rank)
	}
}

// TestHeldTime: the tracer keeps both ranks for 30 at a vote. That is neither computation nor
// MPI, also on the path and in the phases.
func TestHeldTime(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(0, 5).Call("MPI_Barrier", 20, 30, nil).Overhead(30).Send(80, 81, 1).Finalize(95, 100)
	b.Rank(1).Init(0, 5).Call("MPI_Barrier", 25, 30, nil).Overhead(30).Recv(70, 82, 0, 8).Finalize(95, 100)
	f := analyzertest.Built(t, b)
	assert.InDelta(t, 0.100, f.RunSeconds, 1e-9)
	assert.InDelta(t, 0.015+0.020+0.014, f.Ranks[0].Computation, 1e-9)
	assert.InDelta(t, 0.020+0.010+0.013, f.Ranks[1].Computation, 1e-9)
	untraced := 0.0
	for _, s := range f.Path.ByFunction {
		if s.Function == string(accounts.Untraced) {
			untraced = s.Seconds
		}
	}
	assert.InDelta(t, 0.030, untraced, 1e-9)
	assert.Contains(t, f.Notes, "The ranks voted while they ran (--mode clustered): that took 30% of their time, which counts neither as computation nor as MPI.")
}
