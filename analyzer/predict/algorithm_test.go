package predict_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// collectively is the trace of a program in which all ranks make one collective call, with a
// quarter or a multiple of 1 MiB. What is significant at the root 0 only the others do not have.
func collectively(t *testing.T, ranks int, name string, quarters int) timeline.Trace {
	t.Helper()
	b := tracetest.New(ranks)
	b.Communicator(0).Topology = trace.Topology{Dims: []int{ranks}, Periodic: []bool{true}}
	count := quarters << 18
	var counts []int
	var types []string
	for range ranks {
		counts, types = append(counts, count), append(types, "MPI_BYTE")
	}
	b.Ranks(func(i int, r *tracetest.Rank) {
		args := tracetest.Args{"root": 0, "datatype": "MPI_BYTE", "sendtype": "MPI_BYTE", "recvtype": "MPI_BYTE", "sendtypes": types, "recvtypes": types}
		for _, one := range []string{"count", "sendcount", "recvcount"} {
			args[one] = count
		}
		for _, one := range []string{"sendcounts", "recvcounts"} {
			args[one] = counts
		}
		if i > 0 {
			switch name {
			case "MPI_Scatter", "MPI_Scatterv":
				args["sendcount"], args["sendcounts"] = 0, []int{}
			case "MPI_Gather", "MPI_Gatherv":
				args["recvcount"], args["recvcounts"] = 0, []int{}
			}
		}
		r.Init(1, 2).Call(name, 3, 4, args).Finalize(5, 6)
	})
	return timeline.Of(b.Open(t))
}

// Known answers by the formulas of Thakur, Rabenseifner and Gropp, by hand: p ranks, L a latency,
// and 1 MiB taking 3. Beside the call, MPI_Init and MPI_Finalize take ⌈log₂ p⌉ L each, and 2 go
// between them. In the comments the algorithm that is chosen, and the other one's time.
func TestBytesOfCollectives(t *testing.T) {
	for _, one := range []struct {
		name            string
		ranks, quarters int // of a MiB
		latency         float64
		takes           float64
	}{
		{"MPI_Barrier", 4, 0, 2, 2 * 2},
		{"MPI_Bcast", 4, 0, 2, 2 * 2},
		{"MPI_Bcast", 4, 4, 2, 2 * (2 + 3)},               // tree; scatter and allgather 12.5
		{"MPI_Bcast", 4, 16, 2, 2 * ((2 + 3) + (2 + 6))},  // scatter and allgather; tree 28
		{"MPI_Reduce", 4, 4, 2, 2 * (2 + 3)},              // tree
		{"MPI_Reduce", 4, 16, 2, 2 * ((2 + 3) + (2 + 6))}, // Rabenseifner
		{"MPI_Allreduce", 4, 4, 2, 2 * (2 + 3)},           // recursive doubling
		{"MPI_Allreduce", 4, 16, 2, 2 * ((2 + 3) + (2 + 6))},
		{"MPI_Scan", 4, 4, 2, 2 * (2 + 3)},
		{"MPI_Scatter", 4, 4, 2, (2 + 3) + (2 + 6)},
		{"MPI_Scatterv", 4, 4, 2, (2 + 3) + (2 + 6)},
		{"MPI_Gather", 4, 4, 2, (2 + 3) + (2 + 6)},
		{"MPI_Gatherv", 4, 4, 2, (2 + 3) + (2 + 6)},
		{"MPI_Allgather", 4, 4, 2, (2 + 3) + (2 + 6)},
		{"MPI_Allgatherv", 4, 4, 2, (2 + 3) + (2 + 6)},
		{"MPI_Reduce_scatter", 4, 4, 2, (2 + 3) + (2 + 6)},
		{"MPI_Reduce_scatter_block", 4, 4, 2, (2 + 3) + (2 + 6)},
		{"MPI_Alltoall", 4, 4, 2, 3 * (2 + 3)},   // pairwise; Bruck's 16
		{"MPI_Alltoall", 4, 1, 2, 2 * (2 + 1.5)}, // Bruck's; pairwise 8.25
		{"MPI_Alltoallv", 4, 4, 2, 3 * (2 + 3)},
		{"MPI_Alltoallw", 4, 4, 2, 3 * (2 + 3)},
		{"MPI_Alltoall", 5, 4, 2, 4 * (2 + 3)},
		// Bruck's: at odd distances 1 and 3, at 2 and 3, at 4; pairwise 92
		{"MPI_Alltoall", 5, 4, 20, 2*(20+6) + (20 + 3)},
		{"MPI_Allgather", 5, 4, 2, (2 + 3) + (2 + 6) + (2 + 3)},
		{"MPI_Allgather", 1, 4, 2, 0},
		{"MPI_Neighbor_alltoall", 4, 4, 2, 2 + 3},
		{"MPI_Neighbor_allgatherv", 4, 4, 2, 2 + 3},
	} {
		rounds := 0.0
		for n := 1; n < one.ranks; n *= 2 {
			rounds++
		}
		expected := 2 + 2*rounds*one.latency + one.takes
		lengths := play(t, collectively(t, one.ranks, one.name, one.quarters), predict.Scenario{}, on(one.latency, 3, 1<<40))
		what := fmt.Sprintf("%s, %d ranks, %d × 256 KiB, latency %g", one.name, one.ranks, one.quarters, one.latency)
		assert.Equal(t, int64(5*tracetest.Unit), lengths[0], what)
		assert.InDelta(t, expected, float64(lengths[1])/tracetest.Unit, 1e-5, what)
	}
}

// Where messages of 1 MiB make a handshake, the two of Bruck's with 2 MiB take 2 × (3 L + 6) = 24,
// and the three of the pairwise exchange 3 × (3 L + 3) = 27.
func TestHandshakesOfCollectives(t *testing.T) {
	lengths := play(t, collectively(t, 4, "MPI_Alltoall", 4), on(2, 3, 1<<20))
	assert.InDelta(t, 10+24, float64(lengths[0])/tracetest.Unit, 1e-5)
}

// A nonblocking collective takes as long, counted from when it began: at 6 with MPI_Ialltoall
// (MPI_Init ends at 5), at 5.9 with MPI_Start. MPI_Wait ends 15 later, and MPI_Finalize is entered
// 1 after that, and left at 26 or 25.9. On a communicator of two, created from 5.5 to 7.5, 1 MiB
// for each is one message in a round of 5, from 8 on; MPI_Finalize is left at 18.
func TestBytesOfCollectivesWithRequests(t *testing.T) {
	bytes := tracetest.Args{"sendcount": 1 << 20, "recvcount": 1 << 20, "sendtype": "MPI_BYTE", "recvtype": "MPI_BYTE"}
	q := tracetest.Request(0)
	with := func(name string, more any) tracetest.Args {
		args := maps.Clone(bytes)
		args[name] = more
		return args
	}
	for name, one := range map[string]struct {
		calls    func(i int, r *tracetest.Rank)
		expected float64
	}{
		"nonblocking": {func(_ int, r *tracetest.Rank) {
			r.Call("MPI_Ialltoall", 3, 3.1, with("request", q)).Call("MPI_Wait", 4, 5, tracetest.Args{"request": q})
		}, 25},
		"persistent": {func(_ int, r *tracetest.Rank) {
			r.Call("MPI_Alltoall_init", 2.5, 2.6, with("request", q)).Call("MPI_Start", 3, 3.1, tracetest.Args{"request": q})
			r.Call("MPI_Wait", 4, 5, tracetest.Args{"request": q})
		}, 24.9},
		"of two": {func(i int, r *tracetest.Rank) {
			pair := 1 + i/2 // after MPI_COMM_WORLD
			r.Call("MPI_Comm_create_group", 2.5, 2.5, tracetest.Args{"newcomm": tracetest.Comm(pair)})
			r.Call("MPI_Alltoall", 3, 5, with("comm", tracetest.Comm(pair)))
		}, 17},
	} {
		b := tracetest.New(4)
		b.Comm("pair0", 0, 1)
		b.Comm("pair1", 2, 3)
		b.Ranks(func(i int, r *tracetest.Rank) {
			r.Init(1, 2)
			one.calls(i, r)
			r.Finalize(6, 7)
		})
		lengths := play(t, timeline.Of(b.Open(t)), on(2, 3, 1<<40))
		assert.InDelta(t, one.expected, float64(lengths[0])/tracetest.Unit, 1e-5, name)
	}
}
