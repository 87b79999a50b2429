package criticalpath_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/tracetest"
)

// TestUntracedRegion: both ranks turn tracing off from 20 to 60. What they did there is not known: it is no computation,
// and an operation that was recorded all the same, for its request, finds no partner of another region.
func TestUntracedRegion(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(0, 5).Call("MPI_Pcontrol", 20, 20, nil).Untraced().Call("MPI_Pcontrol", 60, 60, tracetest.Args{"level": 1}).
		Send(80, 81, 1).Finalize(95, 100)
	b.Rank(1).Init(0, 5).Call("MPI_Pcontrol", 20, 20, nil).
		Untraced().Call("MPI_Irecv", 30, 31, tracetest.Args{"source": 0, "request": tracetest.Request(0)}).
		Untraced().Call("MPI_Wait", 40, 41, tracetest.Args{"request": tracetest.Request(0)}).
		Untraced().Call("MPI_Pcontrol", 60, 60, tracetest.Args{"level": 1}).
		Recv(70, 82, 0, 8).Finalize(95, 100)
	f := analyze(t, b)
	assert.InDelta(t, 0.100, f.RunSeconds, 1e-9)
	assert.Equal(t, map[string]float64{"late sender": 10}, waits(f))
	assert.Contains(t, f.Notes, "Tracing was off (MPI_Pcontrol) for 0.078 s of the time of rank 0-1: it counts neither as computation nor as MPI, and messages of that time are not told.")
	for _, r := range f.Ranks {
		assert.Less(t, r.Computation, 0.060, "rank %d", r.Rank)
	}
}
