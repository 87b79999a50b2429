package causes_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// repeated returns two ranks that compute 2 in each of iterations and then make calls, which take
// lasts together.
func repeated(iterations int, lasts float64, calls func(i int, r *tracetest.Rank, at float64)) *tracetest.Builder {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("f.c:1").Init(0, 1)
		now := 1.0
		for range iterations {
			calls(i, r, now+2)
			now += 2 + lasts
		}
		r.At("f.c:9").Finalize(now, now+1)
	})
	return b
}

// Reductions of 128 bytes that take 9 each are not too many. With an operation of the program it is
// this that takes the time; with one of MPI nobody knows.
func TestLongReductions(t *testing.T) {
	for _, c := range []struct {
		op   any
		form verdict.Form
		says string
	}{
		{tracetest.Op(0), verdict.OwnOp, "Reductions with the program's own operation make this job slow: their time goes to MPI_Allreduce at f.c:2 (80 calls, 9 ms each, 128 B on average)"},
		{"MPI_SUM", verdict.NoForm, "Collectives make this job slow: their time goes to MPI_Allreduce at f.c:2 (80 calls, 9 ms each, 128 B on average)"},
	} {
		v := judged(t, repeated(40, 9, func(_ int, r *tracetest.Rank, at float64) {
			r.At("f.c:2").Call("MPI_Allreduce", at, at+9, tracetest.Args{"count": 16, "datatype": "MPI_DOUBLE", "op": c.op})
		}))
		require.Equal(t, verdict.Collectives, v.Blames, v.Text)
		assert.Equal(t, c.form, v.Causes[0].Form, v.Text)
		assert.Contains(t, v.Text, c.says)
	}
}

// In each of 100 iterations ranks create and free 10 communicators, in 0.2 and 0.1 each: without
// both the run would take 300 less.
func TestCreationAndFreeing(t *testing.T) {
	v := judged(t, repeated(100, 3, func(_ int, r *tracetest.Rank, at float64) {
		for range 10 {
			r.At("f.c:2").Call("MPI_Comm_split", at, at+0.2, nil).At("f.c:3").Call("MPI_Comm_free", at+0.2, at+0.3, nil)
			at += 0.3
		}
	}))
	require.Equal(t, verdict.Collectives, v.Blames, v.Text)
	assert.Equal(t, verdict.Creation, v.Causes[0].Form, v.Text)
	assert.InDelta(t, 0.3, *v.GainSeconds, 0.001, v.Text)
}

// Messages of 400 kB that take 10 each are large. If their datatype has 100,000 pieces of 4 bytes,
// the verdict says so; a few long pieces are no reason.
func TestMessagesInPieces(t *testing.T) {
	for length, piece := range map[int]float64{1: 4, 20000: 0} {
		v := judged(t, repeated(20, 10, func(i int, r *tracetest.Rank, at float64) {
			r.At("f.c:2").Call("MPI_Type_vector", at, at, tracetest.Args{"count": 100000 / length, "blocklength": length, "stride": 3 * length, "oldtype": "MPI_FLOAT", "newtype": tracetest.Datatype(0)})
			r.At("f.c:3").Call("MPI_Sendrecv", at, at+10, tracetest.Args{
				"sendcount": 1, "sendtype": tracetest.Datatype(0), "dest": 1 - i, "recvcount": 1, "recvtype": tracetest.Datatype(0), "source": 1 - i,
				"status": tracetest.Status{Source: 1 - i, Bytes: 400000},
			})
		}))
		require.Equal(t, verdict.Messages, v.Blames, v.Text)
		assert.Equal(t, verdict.TooLarge, v.Causes[0].Form, v.Text)
		assert.InDelta(t, piece, v.Causes[0].PieceBytes, 0, v.Text)
	}
}

// The same where they are started and a wait completes them, right after that or after a while:
// what the wait completes is known where it was started. MPI copies the pieces inside the wait, so
// that no overlap is missing.
func TestWaitsForMessagesInPieces(t *testing.T) {
	for _, ahead := range []float64{0, 6} {
		for length, want := range map[int]struct {
			form  verdict.Form
			piece float64
		}{1: {verdict.TooLarge, 4}, 20000: {map[bool]verdict.Form{false: verdict.TooLarge, true: verdict.NoOverlap}[ahead > 0], 0}} {
			v := judged(t, repeated(20, 10+ahead, func(i int, r *tracetest.Rank, at float64) {
				r.At("f.c:2").Call("MPI_Type_vector", at, at, tracetest.Args{"count": 100000 / length, "blocklength": length, "stride": 3 * length, "oldtype": "MPI_FLOAT", "newtype": tracetest.Datatype(0)})
				r.At("f.c:3").Call("MPI_Irecv", at, at+0.1, tracetest.Args{"count": 1, "datatype": tracetest.Datatype(0), "source": 1 - i, "request": tracetest.Request(1)})
				r.At("f.c:4").Call("MPI_Isend", at+0.1, at+0.2, tracetest.Args{"count": 1, "datatype": tracetest.Datatype(0), "dest": 1 - i, "request": tracetest.Request(2)})
				r.At("f.c:5").Waitall(at+0.2+ahead, at+10+ahead, tracetest.Requests{1, 2}, tracetest.Status{Source: 1 - i, Bytes: 400000}, tracetest.Status{})
			}))
			require.Equal(t, verdict.Messages, v.Blames, v.Text)
			assert.Equal(t, "f.c:5", v.Causes[0].Before.CallSite, v.Text)
			assert.Equal(t, want.form, v.Causes[0].Form, v.Text)
			assert.InDelta(t, want.piece, v.Causes[0].PieceBytes, 0, v.Text)
		}
	}
}
