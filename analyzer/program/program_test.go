package program_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/tracetest"
	"github.com/cairn-mpi/cairn/internal/simulate"
)

func text(t *testing.T, b *tracetest.Builder) string {
	t.Helper()
	b.Meta().Final = true
	f, err := program.Analyze(context.Background(), timeline.Of(b.Open(t)), program.Options{})
	require.NoError(t, err)
	return f.Text()
}

// call adds a call of no length.
func call(r *tracetest.Rank, site, function string, args tracetest.Args) {
	r.At(site).Call(function, 0, 0, args)
}

// ScalaTrace II, Figure 1: "E1(4,2) E2(1,1 0) E3(1,0 1) E4".
func TestFigure1IterationSpecificBehaviour(t *testing.T) {
	for _, test := range []struct {
		iterations int
		want       string
	}{
		{2, `program of ranks 0
    loop 2 times
        MPI_Barrier(comm=MPI_COMM_WORLD)  @ f1.c:1
        MPI_Send(count=0, datatype=0, dest=0, tag=0, comm=MPI_COMM_WORLD)  × once in iteration 0 of each 2  @ f1.c:2
        MPI_Recv(count=0, datatype=0, source=0, tag=0, comm=MPI_COMM_WORLD)  × once in iteration 1 of each 2  @ f1.c:3
        MPI_Barrier(comm=MPI_COMM_WORLD)  @ f1.c:4
`},
		{1000, `program of ranks 0
    loop 1000 times
        MPI_Barrier(comm=MPI_COMM_WORLD)  @ f1.c:1
        MPI_Send(count=0, datatype=0, dest=0, tag=0, comm=MPI_COMM_WORLD)  × once in iteration 0 of each 2  @ f1.c:2
        MPI_Recv(count=0, datatype=0, source=0, tag=0, comm=MPI_COMM_WORLD)  × once in iteration 1 of each 2  @ f1.c:3
        MPI_Barrier(comm=MPI_COMM_WORLD)  @ f1.c:4
`},
	} {
		b := tracetest.New(1)
		b.Ranks(func(_ int, r *tracetest.Rank) {
			for i := range test.iterations {
				call(r, "f1.c:1", "MPI_Barrier", nil)
				if i%2 == 0 {
					call(r, "f1.c:2", "MPI_Send", nil)
				} else {
					call(r, "f1.c:3", "MPI_Recv", nil)
				}
				call(r, "f1.c:4", "MPI_Barrier", nil)
			}
		})
		assert.Equal(t, test.want, strings.ReplaceAll(text(t, b), "datatype#0", "0"))
	}
}

// ScalaTrace II, Figure 2: the trip count of the inner loop is a function of the time step.
func TestFigure2VaryingTripCounts(t *testing.T) {
	b := tracetest.New(1)
	b.Ranks(func(_ int, r *tracetest.Rank) {
		for i := range 100 {
			call(r, "f2.c:1", "MPI_Barrier", nil)
			for range 3 + i {
				call(r, "f2.c:2", "MPI_Send", nil)
				call(r, "f2.c:3", "MPI_Recv", nil)
			}
		}
	})
	assert.Equal(t, `program of ranks 0
    loop 100 times
        MPI_Barrier(comm=MPI_COMM_WORLD)  @ f2.c:1
        loop 3, 4, …, 102 times
            MPI_Send(count=0, datatype=0, dest=0, tag=0, comm=MPI_COMM_WORLD)  @ f2.c:2
            MPI_Recv(count=0, datatype=0, source=0, tag=0, comm=MPI_COMM_WORLD)  @ f2.c:3
`, strings.ReplaceAll(text(t, b), "datatype#0", "0"))
}

// ScalaTrace II, Figures 4 and 5: loops of two ranks that differ in what they hold are one.
func TestFigure4LoopAgnosticMerge(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		loops := 5 + i
		for range loops {
			call(r, "f4.c:2", "MPI_Send", tracetest.Args{"dest": 1 - i})
			call(r, "f4.c:3", "MPI_Recv", tracetest.Args{"source": 1 - i})
			if i == 1 {
				call(r, "f4.c:7", "MPI_Barrier", nil)
			}
		}
		if i == 0 {
			call(r, "f4.c:2", "MPI_Send", tracetest.Args{"dest": 1})
			call(r, "f4.c:3", "MPI_Recv", tracetest.Args{"source": 1})
			call(r, "f4.c:7", "MPI_Barrier", nil)
		}
	})
	assert.Equal(t, `program of ranks 0-1
    loop 6 times
        MPI_Send(count=0, datatype=0, dest=*, tag=0, comm=MPI_COMM_WORLD)  @ f4.c:2
                dest = 1 on rank 0; 0 on rank 1
        MPI_Recv(count=0, datatype=0, source=*, tag=0, comm=MPI_COMM_WORLD)  @ f4.c:3
                source = 1 on rank 0; 0 on rank 1
        MPI_Barrier(comm=MPI_COMM_WORLD)  @ f4.c:7  [rank 1]
    MPI_Barrier(comm=MPI_COMM_WORLD)  @ f4.c:7  [rank 0]
`, strings.ReplaceAll(text(t, b), "datatype#0", "0"))
}

// TestTripCountsOfRanks: one loop whose trip count differs from rank to rank.
func TestTripCountsOfRanks(t *testing.T) {
	b := tracetest.New(3)
	b.Ranks(func(i int, r *tracetest.Rank) {
		for range 5 + i/2*4 {
			call(r, "a.c:1", "MPI_Barrier", nil)
			call(r, "a.c:2", "MPI_Allreduce", nil)
		}
	})
	assert.Contains(t, text(t, b), "loop 5 times on ranks 0-1; 9 times on rank 2\n")
}

// TestWavefront: nine kinds of ranks are one program, peers relative to the rank.
func TestWavefront(t *testing.T) {
	content := tracetest.Simulated(t, simulate.Config{Pattern: "wavefront", Ranks: 64, Iterations: 30, Steps: 4, Bytes: 1024, CallSites: "caller", NoReplay: true})
	f, err := program.Analyze(context.Background(), timeline.Of(tracetest.Open(t, content)), program.Options{})
	require.NoError(t, err)
	assert.Equal(t, 9, f.Threads[0].Programs)
	text := f.Text()
	assert.Less(t, strings.Count(text, "\n"), 20, text)
	assert.Contains(t, text, "    loop 30 times\n        loop 4 times\n            MPI_Recv(count=1024, datatype=MPI_BYTE, source=rank-8, tag=20, comm=MPI_COMM_WORLD)  @ wavefront.c:20  [ranks 8-63]\n")
	assert.Contains(t, text, "dest=rank+8, tag=20, comm=MPI_COMM_WORLD)  @ wavefront.c:30  [ranks 0-55]\n")
}

// Where every rank has a trip count of its own, the text tells the first ones, the findings all.
func TestTripCountsOfManyRanks(t *testing.T) {
	const ranks = 200
	b := tracetest.New(ranks)
	b.Ranks(func(i int, r *tracetest.Rank) {
		for range i + 2 {
			call(r, "many.c:1", "MPI_Barrier", nil)
			call(r, "many.c:2", "MPI_Send", nil)
		}
	})
	b.Meta().Final = true
	f, err := program.Analyze(context.Background(), timeline.Of(b.Open(t)), program.Options{})
	require.NoError(t, err)
	require.Len(t, f.Threads[0].Body, 1)
	assert.Len(t, f.Threads[0].Body[0].Trips, ranks)
	assert.Contains(t, f.Text(), "loop 2 times on rank 0; 3 times on rank 1; ")
	assert.Contains(t, f.Text(), "; 9 times on rank 7; 192 other counts\n")
}
