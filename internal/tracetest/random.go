package tracetest

import (
	"math"
	"math/rand"
	"testing"
	"time"

	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/trace"
)

// Random returns the trace of a random program, by seed. All ranks go through the same steps; each
// step is a collective or a message between two ranks, sent in one of MPI's ways. Before each of
// its calls a rank computes for 10 µs to longest, with a uniformly distributed logarithm. Messages
// have up to a megabyte.
func Random(t testing.TB, seed int64, ranks, steps int, longest time.Duration) *trace.Content {
	t.Helper()
	s, err := simulate.NewOf(simulate.Config{Pattern: "random", Ranks: ranks}, func(r *simulate.Rank) {
		plan, own := rand.New(rand.NewSource(seed)), rand.New(rand.NewSource(seed<<8+int64(r.Rank())))
		compute := func() {
			least := float64(10 * time.Microsecond)
			r.Compute(time.Duration(least * math.Pow(float64(longest)/least, own.Float64())))
		}
		for range steps {
			randomStep(r, plan, compute)
		}
	})
	if err != nil {
		t.Fatalf("tracetest: %v", err)
	}
	return Merged(t, s)
}

// randomStep is one step. The plan is the same on all ranks.
func randomStep(r *simulate.Rank, plan *rand.Rand, compute func()) {
	from := plan.Intn(r.World().Size())
	to := (from + 1 + plan.Intn(r.World().Size()-1)) % r.World().Size()
	bytes, kind := 1<<plan.Intn(21), plan.Intn(10)
	r.At(100 + kind)
	if kind < 6 && r.Rank() != from && r.Rank() != to {
		return
	}
	compute()
	switch {
	case kind == 6:
		r.Barrier(r.World())
	case kind == 7:
		r.Allreduce(r.World(), bytes)
	case kind == 8:
		r.Bcast(r.World(), from, bytes)
	case kind == 9:
		r.Reduce(r.World(), from, bytes)
	case r.Rank() == to && kind%2 == 0:
		r.Recv(r.World(), from, 0, bytes)
	case r.Rank() == to:
		q := r.Irecv(r.World(), from, 0, bytes)
		compute()
		r.Wait(q)
	case kind < 2:
		r.Send(r.World(), to, 0, bytes)
	case kind < 4:
		r.Ssend(r.World(), to, 0, bytes)
	default:
		q := r.Isend(r.World(), to, 0, bytes)
		compute()
		r.Wait(q)
	}
}
