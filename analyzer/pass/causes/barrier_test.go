package causes_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// inTurns returns four ranks that compute 4 in turn and 1 otherwise before each of 20 collectives,
// which end 0.5 after the last entry: 1 + 20 · 4.5 + 1 = 92.
func inTurns(function string, more func(r *tracetest.Rank)) *tracetest.Builder {
	b := tracetest.New(4)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("t.c:1").Init(0, 0.5)
		more(r)
		for k := range 20 {
			now, work := 1+4.5*float64(k), 1.0
			if k%4 == i {
				work = 4
			}
			r.At("t.c:2").Collective(function, now+work, now+4.5)
		}
		r.At("t.c:3").Finalize(91, 92)
	})
	return b
}

// Without the barrier each rank computes 5 · 4 + 15 · 1 = 35, and its 20 calls keep their 0.5: the
// run takes 47. If it synchronizes what MPI does not order, or is a reduction, nothing is said of
// it.
func TestBarrierThatNothingNeeds(t *testing.T) {
	nothing := func(*tracetest.Rank) {}
	v := judged(t, inTurns("MPI_Barrier", nothing))
	require.Equal(t, verdict.Collectives, v.Blames, v.Text)
	require.Equal(t, verdict.Barrier, v.Causes[0].Form, v.Text)
	assert.Empty(t, v.Ranks)
	assert.InDelta(t, 0.045, *v.GainSeconds, 0.003, v.Text)
	assert.Contains(t, v.Text, "Waiting in MPI_Barrier at t.c:2 makes this job slow: each time all ranks wait there for whoever is last, 2.25 ms on average, though another rank is last at other times. If the program does not need it, the run would take ")
	assert.Contains(t, v.Text, " less (of 92 ms) without it.")
	for name, b := range map[string]*tracetest.Builder{
		"a reduction": inTurns("MPI_Allreduce", nothing),
		"with files": inTurns("MPI_Barrier", func(r *tracetest.Rank) {
			r.At("t.c:4").Call("MPI_File_write", 0.6, 0.7, tracetest.Args{"fh": tracetest.File(0), "count": 1, "datatype": "MPI_BYTE"})
		}),
	} {
		v := judged(t, b)
		require.Equal(t, verdict.Imbalance, v.Blames, name+": "+v.Text)
		assert.Equal(t, verdict.Moving, v.Causes[0].Form, name)
	}
}
