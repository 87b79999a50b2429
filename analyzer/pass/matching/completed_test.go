package matching

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// completedIn returns what is completed in a trace, by function; each has one call site. What
// starts that is in startsIn.
func completedIn(t *testing.T, b *tracetest.Builder) map[string]Completed {
	t.Helper()
	by, _ := completedAndStarts(t, b)
	return by
}

// startsIn returns the functions that start what is completed.
func startsIn(t *testing.T, b *tracetest.Builder) map[string][]string {
	t.Helper()
	_, starts := completedAndStarts(t, b)
	return starts
}

func completedAndStarts(t *testing.T, b *tracetest.Builder) (by map[string]Completed, starts map[string][]string) {
	t.Helper()
	tr := timeline.Of(b.Open(t))
	f, err := run(t.Context(), tr, nil)
	require.NoError(t, err)
	defer f.Log.Close()
	by, starts = map[string]Completed{}, map[string][]string{}
	for site, c := range f.Completed {
		name, sums := tr.Function(site.Function).Name, *c
		for _, start := range c.Starts {
			starts[name] = append(starts[name], tr.Function(start.Function).Name)
		}
		sums.Starts = nil
		by[name] = sums
	}
	return by, starts
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
	starts := startsIn(t, b)
	assert.ElementsMatch(t, []string{"MPI_Irecv", "MPI_Isend"}, starts["MPI_Waitall"])
	assert.Equal(t, []string{"MPI_Iallreduce"}, starts["MPI_Wait"])
	assert.Empty(t, starts["MPI_Recv"])
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

// Each rank starts two writes of 1 MiB (until 2 and 3), of which MPI_Waitall completes one from 4
// on with two messages, and MPI_Wait the other one from 7 on. A collective read of 4 KiB is split:
// begun until 9 and ended from 12 on. A nonblocking collective read of 100 bytes is completed by
// MPI_Test, after a test that fails.
func TestWhatFileCallsComplete(t *testing.T) {
	b := tracetest.New(2)
	file := tracetest.File(0)
	data := func(count int, more tracetest.Args) tracetest.Args {
		more["fh"], more["count"], more["datatype"] = file, count, "MPI_BYTE"
		return more
	}
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 1).
			Call("MPI_File_iwrite", 1, 2, data(1<<20, tracetest.Args{"request": tracetest.Request(0)})).
			Call("MPI_File_iwrite_at", 2, 3, data(1<<20, tracetest.Args{"request": tracetest.Request(1)})).
			Irecv(3, 3.5, 1-i, 2).Isend(3.5, 3.75, 1-i, 3).
			Waitall(4, 5, tracetest.Requests{1, 2, 3}, tracetest.Status{}, tracetest.Status{Source: 1 - i, Bytes: 8}, tracetest.Status{}).
			Call("MPI_Wait", 7, 8, tracetest.Args{"request": tracetest.Request(0)}).
			Call("MPI_File_read_all_begin", 8, 9, data(4096, tracetest.Args{})).
			Call("MPI_File_read_all_end", 12, 13, tracetest.Args{"fh": file}).
			Call("MPI_File_iread_all", 13, 14, data(100, tracetest.Args{"request": tracetest.Request(0)})).
			Call("MPI_Test", 14, 15, tracetest.Args{"request": tracetest.Request(0), "flag": 0}).
			Call("MPI_Test", 16, 17, tracetest.Args{"request": tracetest.Request(0), "flag": 1}).
			Finalize(18, 19)
	})
	by := completedIn(t, b)
	mixed := by["MPI_Waitall"]
	assert.Equal(t, Completed{Messages: 4, Files: 2, Sized: 6, Bytes: 2<<20 + 4*8, Started: 6, Ahead: 2 * 1.75 * tracetest.Unit}, mixed)
	assert.True(t, mixed.AreMessages())
	wait := by["MPI_Wait"]
	assert.Equal(t, Completed{Files: 2, Sized: 2, Bytes: 2 << 20, Started: 2, Ahead: 2 * 5 * tracetest.Unit}, wait)
	assert.True(t, wait.AreFiles() && !wait.AreMessages() && !wait.AreCollectives())
	assert.Equal(t, Completed{Files: 2, Sized: 2, Bytes: 2 * 4096, Started: 2, Ahead: 2 * 3 * tracetest.Unit}, by["MPI_File_read_all_end"])
	assert.Equal(t, Completed{Files: 2, Sized: 2, Bytes: 2 * 100, Started: 2, Ahead: 2 * 2 * tracetest.Unit}, by["MPI_Test"])
}

// What the calls that end epochs complete: a fence all accesses of its window, MPI_Win_unlock and a
// flush those to one target. An access with a request is completed by the wait for it.
func TestWhatEpochsComplete(t *testing.T) {
	b := tracetest.New(2)
	window := func(more tracetest.Args) tracetest.Args {
		more["win"] = tracetest.Win(0)
		return more
	}
	to := func(target, count int) tracetest.Args {
		return window(tracetest.Args{"target_rank": target, "origin_count": count, "origin_datatype": "MPI_DOUBLE", "datatype": "MPI_INT"})
	}
	asked := to(1, 5)
	asked["request"] = tracetest.Request(0)
	b.Rank(0).Init(0, 1).
		Call("MPI_Win_fence", 1, 2, window(tracetest.Args{})).
		Call("MPI_Put", 2, 3, to(1, 1000)).
		Call("MPI_Get", 3, 4, to(0, 500)).
		Call("MPI_Win_fence", 6, 7, window(tracetest.Args{})).
		Call("MPI_Win_lock_all", 7, 8, window(tracetest.Args{})).
		Call("MPI_Accumulate", 8, 9, to(1, 10)).
		Call("MPI_Accumulate", 9, 10, to(0, 20)).
		Call("MPI_Win_flush", 11, 12, window(tracetest.Args{"rank": 1})).
		Call("MPI_Rput", 12, 13, asked).
		Call("MPI_Fetch_and_op", 13, 14, to(1, 0)).
		Call("MPI_Wait", 14, 15, tracetest.Args{"request": tracetest.Request(0)}).
		Call("MPI_Win_unlock_all", 16, 17, window(tracetest.Args{})).
		Finalize(17, 18)
	b.Rank(1).Init(0, 1).Finalize(17, 18)
	by := completedIn(t, b)
	const unit = tracetest.Unit
	assert.Equal(t, Completed{Messages: 2, Sized: 2, Bytes: 8 * 1500, Started: 2, Ahead: (3 + 2) * unit}, by["MPI_Win_fence"])
	assert.Equal(t, Completed{Messages: 1, Sized: 1, Bytes: 80, Started: 1, Ahead: 2 * unit}, by["MPI_Win_flush"])
	assert.Equal(t, Completed{Messages: 1, Sized: 1, Bytes: 40, Started: 1, Ahead: 1 * unit}, by["MPI_Wait"])
	assert.Equal(t, Completed{Messages: 2, Sized: 2, Bytes: 8*20 + 4, Started: 2, Ahead: (6 + 2) * unit}, by["MPI_Win_unlock_all"])
	assert.ElementsMatch(t, []string{"MPI_Put", "MPI_Get"}, startsIn(t, b)["MPI_Win_fence"])
}
