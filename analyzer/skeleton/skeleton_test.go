package skeleton_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/skeleton"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func simulated(t *testing.T, config simulate.Config) timeline.Trace {
	return timeline.Of(tracetest.Open(t, tracetest.Simulated(t, config)))
}

func made(t *testing.T, of timeline.Trace, o skeleton.Options) *skeleton.Skeleton {
	t.Helper()
	s, err := skeleton.New(context.Background(), of, o)
	require.NoError(t, err)
	return s
}

// -update writes testdata anew, to be looked at before it is committed.
func TestPrograms(t *testing.T) {
	for name, config := range map[string]simulate.Config{
		"ring":      {Pattern: "ring", Ranks: 8},
		"stencil":   {Pattern: "stencil2d", Ranks: 9, Cartesian: true},
		"wavefront": {Pattern: "wavefront", Ranks: 9},
		"two-phase": {Pattern: "two-phase", Ranks: 8},
	} {
		t.Run(name, func(t *testing.T) {
			s := made(t, simulated(t, config), skeleton.Options{})
			file := filepath.Join("testdata", name+".c")
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(s.Source), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(want), s.Source)
		})
	}
}

// Peers of eight ranks, by what they are of the rank, and whether other numbers of ranks have them.
func TestPeers(t *testing.T) {
	for _, test := range []struct {
		peer     func(r int) int
		text     string
		portable bool
	}{
		{func(r int) int { return (r + 1) % 8 }, "(rank + 1) % size", true},
		{func(r int) int { return (r + 5) % 8 }, "(rank + size - 3) % size", true},
		{func(r int) int { return 7 - r }, "size - 1 - rank", true},
		{func(r int) int { return r ^ 2 }, "rank ^ 2", false},
		{func(int) int { return 3 }, "3", false},
		{func(r int) int { return []int{5, 2, 7, 1, 0, 3, 6, 4}[r] }, "dest_0[rank]", false},
	} {
		b := tracetest.New(8)
		b.Ranks(func(i int, r *tracetest.Rank) {
			r.At("x.c:1").Call("MPI_Send", 0, 0, tracetest.Args{"dest": test.peer(i)})
		})
		b.Meta().Final = true
		s := made(t, timeline.Of(b.Open(t)), skeleton.Options{})
		assert.Contains(t, s.Source, ", "+test.text+", ")
		assert.Equal(t, test.portable, len(s.Fixed) == 0, "%s: %s", test.text, s.Fixed)
	}
}

// Only peers are what a bit of the rank makes of it: 10, 11, 8 and 9 trips are no butterfly, and
// "i < rank ^ 10" is no C.
func TestTripsAreNoBitsOfTheRank(t *testing.T) {
	b := tracetest.New(4)
	b.Ranks(func(i int, r *tracetest.Rank) {
		for range i ^ 10 {
			r.At("x.c:1").Call("MPI_Wtime", 0, 0, nil)
		}
	})
	s := made(t, timeline.Of(b.Open(t)), skeleton.Options{})
	assert.NotContains(t, s.Source, "^")
}

// What some ranks do, and what comes in some iterations.
func TestConditions(t *testing.T) {
	b := tracetest.New(4)
	b.Ranks(func(i int, r *tracetest.Rank) {
		for k := range 20 {
			r.At("x.c:1").Call("MPI_Barrier", 0, 0, nil)
			if k%5 == 4 {
				r.At("x.c:2").Call("MPI_Allreduce", 0, 0, nil)
			}
		}
		if i == 0 {
			r.At("x.c:3").Call("MPI_Wtime", 0, 0, nil)
		} else {
			r.At("x.c:4").Call("MPI_Wtick", 0, 0, nil)
		}
	})
	s := made(t, timeline.Of(b.Open(t)), skeleton.Options{})
	_, body, found := strings.Cut(s.Source, "int main")
	require.True(t, found)
	assert.Contains(t, body, `    if (rank == 0) {
        MPI_Wtime();
    } else {
        MPI_Wtick();
    }
`)
	assert.Contains(t, body, "MPI_Allreduce")
}

// A loop is shortened where its first iterations leave what all of them leave, on
// all ranks together.
func TestShortening(t *testing.T) {
	s := made(t, simulated(t, simulate.Config{Pattern: "ring", Ranks: 4, Iterations: 200}), skeleton.Options{Scale: 0.01})
	require.Len(t, s.Shortened, 1)
	assert.EqualValues(t, 2, s.Shortened[0].First)
	assert.EqualValues(t, 200, s.Shortened[0].Iterations)
	assert.Contains(t, s.Source, "i < 2; i++")
	assert.Less(t, s.Expected, s.Seconds/10)

	b := tracetest.New(2) // the second rank receives in two loops what the first one sends in one
	for k := range 10 {
		b.Rank(0).At("x.c:1").Send(float64(k), float64(k)+0.1, 1)
		b.Rank(0).At("x.c:2").Call("MPI_Wtime", float64(k)+0.2, float64(k)+0.3, nil)
	}
	for k := range 10 {
		b.Rank(1).At([]string{"x.c:3", "x.c:4"}[k/5]).Recv(20+float64(k), 20.5+float64(k), 0, 8)
	}
	s = made(t, timeline.Of(b.Open(t)), skeleton.Options{Scale: 0.1})
	assert.Empty(t, s.Shortened)
	assert.Contains(t, strings.Join(s.Notes, "\n"), "has all of its 10 iterations: its first iterations do not receive all that they send")
}

func TestRefusals(t *testing.T) {
	refused := func(b *tracetest.Builder, why string) {
		_, err := skeleton.New(context.Background(), timeline.Of(b.Open(t)), skeleton.Options{})
		require.ErrorIs(t, err, skeleton.ErrUnsupported)
		assert.ErrorContains(t, err, why)
	}
	b := tracetest.New(2)
	b.Ranks(func(_ int, r *tracetest.Rank) { r.Init(0, 1) })
	b.Rank(1).Ended("killed in MPI_Recv", 5)
	refused(b, "rank 1 ended early (killed in MPI_Recv)")
	b = tracetest.New(1)
	b.Rank(0).Init(0, 1).Untraced().Finalize(2, 3)
	refused(b, "tracing was off")
	b = tracetest.New(1)
	b.Rank(0).Init(0, 1).Call("MPI_Comm_get_parent", 1, 2, tracetest.Args{"parent": tracetest.Comm(b.Comm("spawn", 0))}).Finalize(2, 3)
	refused(b, "its processes were spawned by others")

	b = tracetest.New(1)
	b.Rank(0).Call("MPI_Abort", 0, 1, nil)
	refused(b, "MPI_Abort")

	b = tracetest.New(1)
	b.Rank(0).Init(0, 1).Thread().Call("MPI_Barrier", 1, 2, nil)
	refused(b, "several threads")
}

func TestCompare(t *testing.T) {
	ring := simulate.Config{Pattern: "ring", Ranks: 4}
	again, longer := ring, ring
	longer.Iterations = 11
	again.Compute = 5000
	difference, err := skeleton.Compare(context.Background(), simulated(t, ring), simulated(t, again))
	require.NoError(t, err)
	assert.Empty(t, difference)
	difference, err = skeleton.Compare(context.Background(), simulated(t, ring), simulated(t, longer))
	require.NoError(t, err)
	assert.Contains(t, difference, "rank 0, call 11: MPI_Finalize")
}

// A buffer holds all parts of a partitioned message.
func TestBuffersOfPartitionedMessages(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 1).At("psend").Call("MPI_Psend_init", 1, 2, tracetest.Args{
			"partitions": 8, "count": 512, "datatype": "MPI_DOUBLE", "dest": 1 - i, "request": tracetest.Request(0),
		}).At("free").Call("MPI_Request_free", 2, 3, tracetest.Args{"request": tracetest.Request(0)}).Finalize(3, 4)
	})
	assert.Contains(t, made(t, timeline.Of(b.Open(t)), skeleton.Options{}).Source, "message = 32768,")
}

// Loops wait for requests of which some are MPI_REQUEST_NULL, and for others each time: the numbers
// of requests are integers.
func TestWaitsForChangingRequests(t *testing.T) {
	b := tracetest.New(1)
	r := b.Rank(0).Init(0, 1)
	for i, q := range []tracetest.Request{0, 0, 1, 0, 1, 1} {
		at := float64(1 + 3*i)
		r.At("isend").Isend(at, at+1, 0, q)
		r.At("irecv").Irecv(at+1, at+2, 0, 1-q)
		r.At("wait").Call("MPI_Wait", at+2, at+2.5, tracetest.Args{"request": q})
		args := tracetest.Args{"request": 1 - q}
		if i == 2 {
			args["request"] = "MPI_REQUEST_NULL"
		}
		r.At("other").Call("MPI_Wait", at+2.5, at+3, args)
	}
	for i, q := range []tracetest.Request{0, 0, 1, 0, 1, 1} { // consecutive ones
		at := float64(30 + 3*i)
		r.At("isend").Isend(at, at+1, 0, q).At("irecv").Irecv(at+1, at+2, 0, q+1)
		r.At("all").Waitall(at+2, at+3, tracetest.Requests{q, q + 1})
	}
	r.Finalize(60, 61)
	source := made(t, timeline.Of(b.Open(t)), skeleton.Options{}).Source
	assert.Contains(t, source, "static const int request_")
	assert.Contains(t, source, "static const int array_of_requests_")
	assert.NotContains(t, source, "static const MPI_Request")
}

// Lists of no requests are the array: MPI libraries refuse NULL.
func TestListsOfNoRequests(t *testing.T) {
	b := tracetest.New(1)
	b.Rank(0).Init(0, 1).Call("MPI_Startall", 1, 2, tracetest.Args{"count": 0, "array_of_requests": tracetest.Requests{}}).Waitall(2, 3, tracetest.Requests{}).Finalize(3, 4)
	source := made(t, timeline.Of(b.Open(t)), skeleton.Options{}).Source
	assert.Contains(t, source, "MPI_Startall(0, requests)")
	assert.Contains(t, source, "MPI_Waitall(0, requests, ")
	assert.Contains(t, source, "static MPI_Request requests[1];")
}

// Waits for null requests only: the helper that makes the list names the array of requests.
func TestWaitsForNullRequestsOnly(t *testing.T) {
	b := tracetest.New(1)
	b.Rank(0).Init(0, 1).Call("MPI_Wait", 1, 2, tracetest.Args{"request": "MPI_REQUEST_NULL"}).Finalize(2, 3)
	source := made(t, timeline.Of(b.Open(t)), skeleton.Options{}).Source
	assert.Contains(t, source, "requests[from[i]]")
	assert.Contains(t, source, "static MPI_Request requests[1];")
}
