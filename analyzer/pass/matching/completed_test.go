package matching

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// completedIn returns what is completed in a trace, by function; each has one call site.
func completedIn(t *testing.T, b *tracetest.Builder) map[string]Completed {
	t.Helper()
	tr := timeline.Of(b.Open(t))
	f, err := run(t.Context(), tr, nil)
	require.NoError(t, err)
	defer f.Log.Close()
	by := map[string]Completed{}
	for site, c := range f.Completed {
		by[tr.Function(site.Function).Name] = *c
	}
	return by
}

// Both ranks exchange 6 MB with MPI_Irecv (until 2) and MPI_Isend (until 3), completed in
// MPI_Waitall from 5 on, and start a reduction of 8 KiB (until 7) that MPI_Wait completes from 17
// on. A send of 100 bytes is received by a call that could take 1 MiB.
func TestWhatCallsComplete(t *testing.T) {
	const halo = 6 << 20
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("c.c:1").Init(0, 1).At("c.c:2").Irecv(1, 2, 1-i, 0).At("c.c:3").Isend(2, 3, 1-i, 1).
			At("c.c:4").Waitall(5, 6, tracetest.Requests{0, 1}, tracetest.Status{Source: 1 - i, Bytes: halo}).
			At("c.c:5").Call("MPI_Iallreduce", 6, 7, tracetest.Args{"count": 1024, "datatype": "MPI_DOUBLE", "request": tracetest.Request(2)}).
			At("c.c:6").Call("MPI_Wait", 17, 18, tracetest.Args{"request": tracetest.Request(2)})
		if i == 0 {
			r.At("c.c:7").Send(19, 20, 1)
		} else {
			r.At("c.c:8").Call("MPI_Recv", 19, 20, tracetest.Args{"source": 0, "count": 1 << 20, "datatype": "MPI_BYTE", "status": tracetest.Status{Source: 0, Bytes: 100}})
		}
		r.At("c.c:9").Finalize(21, 22)
	})
	by := completedIn(t, b)
	assert.Equal(t, Completed{Messages: 4, Sized: 4, Bytes: 4 * halo, Started: 4, Ahead: 2 * (3 + 2) * tracetest.Unit}, by["MPI_Waitall"])
	assert.Equal(t, Completed{Collectives: 2, Sized: 2, Bytes: 2 * 8192, Started: 2, Ahead: 2 * 10 * tracetest.Unit}, by["MPI_Wait"])
	assert.Equal(t, Completed{Messages: 1, Sized: 1, Bytes: 100}, by["MPI_Send"])
	assert.Equal(t, Completed{Messages: 1, Sized: 1, Bytes: 100}, by["MPI_Recv"])
	assert.NotContains(t, by, "MPI_Isend")
	reduction, messages := by["MPI_Wait"], by["MPI_Waitall"]
	assert.True(t, reduction.AreCollectives() && reduction.AreStarted())
	assert.False(t, messages.AreCollectives())
	assert.InDelta(t, 2.5*tracetest.Unit, messages.MeanAhead(), 1)
}

// The sums of random programs are those of the program: rank 0 sends messages of random sizes, some
// with a request, and rank 1 receives them in order, some with a request.
func TestCompletedAtRandom(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 5))
		b := tracetest.New(2)
		b.Ranks(func(_ int, r *tracetest.Rank) { r.Init(0, 1) })
		want := map[string]Completed{}
		see := func(function string, bytes int, ahead float64) {
			c := want[function]
			c.Messages++
			c.Sized++
			c.Bytes += uint64(bytes)
			if ahead > 0 {
				c.Started++
				c.Ahead += int64(ahead * tracetest.Unit)
			}
			want[function] = c
		}
		now := 1.0
		for range random.IntN(40) {
			bytes, ahead := random.IntN(1<<24), float64(1+random.IntN(9))
			if random.IntN(2) == 0 {
				b.Rank(0).Send(now, now+1, 1)
				see("MPI_Send", bytes, 0)
			} else {
				b.Rank(0).Isend(now, now+1, 1, 0).Call("MPI_Wait", now+1+ahead, now+2+ahead, tracetest.Args{"request": tracetest.Request(0)})
				see("MPI_Wait", bytes, ahead)
			}
			if random.IntN(2) == 0 {
				b.Rank(1).Recv(now, now+1, 0, bytes)
				see("MPI_Recv", bytes, 0)
			} else {
				b.Rank(1).Irecv(now, now+1, 0, 0).Waitall(now+1+ahead, now+2+ahead, tracetest.Requests{0}, tracetest.Status{Source: 0, Bytes: bytes})
				see("MPI_Waitall", bytes, ahead)
			}
			now += 2 + ahead
		}
		b.Ranks(func(_ int, r *tracetest.Rank) { r.Finalize(now, now+1) })
		got := completedIn(t, b)
		for function, c := range want {
			assert.Equal(t, c, got[function], "seed %d: %s", seed, function)
		}
	}
}
