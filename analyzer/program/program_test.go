package program_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
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
func TestFigure1IterationSpecificBehavior(t *testing.T) {
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
  program 1: rank 0
  program 2: rank 1, without MPI_Barrier at f4.c:7, with MPI_Barrier at f4.c:7
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
	assert.Equal(t, 9, f.Threads[0].Sequences)
	assert.Equal(t, []program.Program{{Ranks: "0-63"}}, f.Threads[0].Programs)
	text := f.Text()
	assert.Less(t, strings.Count(text, "\n"), 20, text)
	assert.Contains(t, text, "    loop 30 times\n        loop 4 times\n            MPI_Recv(count=1024, datatype=MPI_BYTE, source=rank-8, tag=20, comm=MPI_COMM_WORLD)  @ wavefront.c:20  [ranks 8-63]\n")
	assert.Contains(t, text, "dest=rank+8, tag=20, comm=MPI_COMM_WORLD)  @ wavefront.c:30  [ranks 0-55]\n")
}

// Where every rank has a trip count of its own, that is a function of the rank, or the text tells
// the first ones and the findings all.
func TestTripCountsOfManyRanks(t *testing.T) {
	const ranks = 200
	found := func(trips func(rank int) int) (program.Findings, string) {
		b := tracetest.New(ranks)
		b.Ranks(func(i int, r *tracetest.Rank) {
			for range trips(i) {
				call(r, "many.c:1", "MPI_Barrier", nil)
				call(r, "many.c:2", "MPI_Send", nil)
			}
		})
		b.Meta().Final = true
		f, err := program.Analyze(context.Background(), timeline.Of(b.Open(t)), program.Options{})
		require.NoError(t, err)
		require.Len(t, f.Threads[0].Body, 1)
		return f, f.Text()
	}
	_, text := found(func(rank int) int { return rank + 2 })
	assert.Contains(t, text, "loop rank+2 times\n")
	f, text := found(func(rank int) int { return rank*7919%200 + 2 })
	assert.Len(t, f.Threads[0].Body[0].Trips, ranks)
	assert.Contains(t, text, "loop 2 times on rank 0; 121 times on rank 1; ")
	assert.Contains(t, text, "; 192 other counts\n")
}

// TestKeysOfCommSplit: a function of the rank, but for one; what has none is summed up.
func TestKeysOfCommSplit(t *testing.T) {
	b := tracetest.New(16)
	b.Ranks(func(i int, r *tracetest.Rank) {
		key := i
		if i == 5 {
			key = 40
		}
		call(r, "k.c:1", "MPI_Comm_split", tracetest.Args{"color": i / 4, "key": key})
		call(r, "k.c:2", "MPI_Comm_split", tracetest.Args{"color": i % 2, "key": i * i})
	})
	found := text(t, b)
	assert.Contains(t, found, "key = rank on ranks 0-4, 6-15; 40 on rank 5\n")
	assert.Contains(t, found, "color=(rank div 4), key=*")
	assert.Contains(t, found, "color=(rank mod 2), key=differs by rank (0 to 225, 16 values))")
}

// TestManyMessagesOfOneSite: twelve messages with tags and sizes of their own in each iteration are
// one call. By hand: 36 sizes from 8 (three times) to 59185.
func TestManyMessagesOfOneSite(t *testing.T) {
	b := tracetest.New(4)
	b.Ranks(func(i int, r *tracetest.Rank) {
		for iteration := range 3 {
			call(r, "m.c:1", "MPI_Barrier", nil)
			for k := range 12 {
				n := iteration*12 + k
				count := 8 + n*n*n*n*59177/(35*35*35*35)
				call(r, "m.c:2", "MPI_Send", tracetest.Args{"count": count, "tag": k, "dest": (i + 1) % 4})
			}
		}
	})
	found := text(t, b)
	assert.Equal(t, 1, strings.Count(found, "MPI_Send"), found)
	assert.Contains(t, found, "loop 3 times\n")
	assert.Contains(t, found, "count=varies (8 to 59185, 34 values)")
	assert.Contains(t, found, "dest=(rank+1) mod 4, tag=0, 1, …, 11 in turn")
	assert.Contains(t, found, "× 12 times")
}

// TestGridNeighborsInTurn: one call site sends to the four neighbors in turn, on a grid whose ends
// meet; and on one whose ends do not, edges have MPI_PROC_NULL.
func TestGridNeighborsInTurn(t *testing.T) {
	const rows, columns = 3, 5
	shift := [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}}
	b := tracetest.New(rows * columns)
	b.Ranks(func(i int, r *tracetest.Rank) {
		for range 10 {
			for _, s := range shift {
				call(r, "g.c:1", "MPI_Send", tracetest.Args{"dest": (i/columns+s[0]+rows)%rows*columns + (i+s[1]+columns)%columns})
			}
			call(r, "g.c:2", "MPI_Barrier", nil)
		}
	})
	assert.Contains(t, text(t, b), "dest=(rank-5) mod 15, (rank+5) mod 15, coordinates(+0, -1) of 3x5, coordinates(+0, +1) of 3x5 in turn")
}

// TestEdgesOfGrids: one call site sends to the neighbors that there are. Ranks inside have
// four, edges three, corners two; by hand: up, down, left, right of a row-major grid, and
// the side as tag.
func TestEdgesOfGrids(t *testing.T) {
	for _, size := range [][2]int{{3, 5}, {2, 4}, {3, 3}, {6, 6}} {
		rows, columns := size[0], size[1]
		b := tracetest.New(rows * columns)
		b.Ranks(func(i int, r *tracetest.Rank) {
			y, x := i/columns, i%columns
			for range 10 {
				for side, there := range []bool{y > 0, y < rows-1, x > 0, x < columns-1} {
					if there {
						call(r, "e.c:1", "MPI_Send", tracetest.Args{"dest": i + []int{-columns, columns, -1, 1}[side], "tag": side})
					}
				}
				call(r, "e.c:2", "MPI_Barrier", nil)
			}
		})
		found := text(t, b)
		want := fmt.Sprintf("dest=some of rank-%d, rank+%d, rank-1, rank+1 in turn, tag=some of 0, 1, 2, 3 in turn", columns, columns)
		if rows == 2 { // nobody has both up and down: rank 0, the first with most, has down
			want = "dest=some of rank+4, rank-4, rank-1, rank+1 in turn, tag=some of 1, 0, 2, 3 in turn"
		}
		assert.Contains(t, found, want)
		assert.Equal(t, 1, strings.Count(found, "MPI_Send"))
	}
}

// TestLoopsThatDifferInArguments: a grammar begins loops anywhere, and a new one where an argument
// changes; all of that is one loop. By hand: 400 iterations of twelve messages and a reduction,
// whose counts change every 37 iterations.
func TestLoopsThatDifferInArguments(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(_ int, r *tracetest.Rank) {
		random := rand.New(rand.NewPCG(1, 1))
		for i := range 400 {
			for k := range 12 {
				count := 100 + i/37
				if random.IntN(40) == 0 {
					count = 8 * (1 + random.IntN(5000))
				}
				call(r, "d.c:1", "MPI_Send", tracetest.Args{"count": count, "tag": k})
			}
			call(r, "d.c:2", "MPI_Allreduce", nil)
		}
	})
	found := text(t, b)
	assert.Contains(t, found, "    loop 400 times\n        MPI_Send(", found)
	assert.Contains(t, found, "× 12 times  @ d.c:1\n        MPI_Allreduce(")
	assert.Equal(t, 4, strings.Count(found, "\n"), found)
}

// TestPeersInRowCommunicators: in communicators of their own ranks are numbered anew. By hand: rows
// of four of 16 ranks, each sends to the next in its row; the count, 8 for each rank of the world,
// is no function of the rank in the row.
func TestPeersInRowCommunicators(t *testing.T) {
	b := tracetest.New(16)
	rows := make([]int, 4)
	for y := range rows {
		rows[y] = b.Comm("rows", 4*y, 4*y+1, 4*y+2, 4*y+3)
	}
	b.Ranks(func(i int, r *tracetest.Rank) {
		row := tracetest.Comm(rows[i/4])
		call(r, "r.c:1", "MPI_Comm_split", tracetest.Args{"color": i / 4, "key": 15 - i, "newcomm": row})
		call(r, "r.c:2", "MPI_Send", tracetest.Args{"dest": (i + 1) % 4, "count": 8 * i, "comm": row})
		call(r, "r.c:3", "MPI_Recv", tracetest.Args{"source": (i + 3) % 4, "count": 200, "comm": row})
	})
	found := text(t, b)
	assert.Contains(t, found, "color=(rank div 4), key=15-rank)")
	assert.Contains(t, found, "MPI_Send(count=8·world rank, ")
	assert.Contains(t, found, "dest=(rank+1) mod 4")
	assert.Contains(t, found, "source=(rank-1) mod 4")
}

// TestProgramTextIsCut: a program that is longer than it may be ends there, and says so; one that
// is not does not.
func TestProgramTextIsCut(t *testing.T) {
	b := tracetest.New(1)
	b.Ranks(func(_ int, r *tracetest.Rank) {
		for i := range 30 { // no two alike: 30 lines
			call(r, fmt.Sprintf("long.c:%d", 10+i), "MPI_Barrier", nil)
		}
	})
	b.Meta().Final = true
	for lines, cut := range map[int]bool{10: true, 29: true, 30: false, 31: false} {
		f, err := program.Analyze(t.Context(), timeline.Of(b.Open(t)), program.Options{MaxLines: lines})
		require.NoError(t, err)
		text := f.Text()
		if !cut {
			assert.Zero(t, f.MaxLines)
			assert.Empty(t, f.Notes)
			assert.Equal(t, 30, strings.Count(text, "MPI_Barrier"))
			continue
		}
		assert.Equal(t, lines, f.MaxLines)
		assert.Equal(t, lines, strings.Count(text, "MPI_Barrier"))
		assert.Contains(t, text, fmt.Sprintf("    … %d more\n", 30-lines))
		assert.Contains(t, text, fmt.Sprintf("longer than the first %d lines", lines))
	}
}
