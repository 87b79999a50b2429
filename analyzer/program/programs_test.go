package program_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// exactly is the program of ranks, with all values, after it was held against each call.
func exactly(t *testing.T, b *tracetest.Builder) *program.Findings {
	t.Helper()
	b.Meta().Final = true
	return requireNothingElided(t, b.Open(t), program.Options{})
}

func programRanks(f *program.Findings) []string {
	var ranks []string
	for _, p := range f.Threads[0].Programs {
		ranks = append(ranks, p.Ranks)
	}
	return ranks
}

// TestOneScalarIsOneProgram: a key, a color, a count, a trip count of their own leave
// ranks one program.
func TestOneScalarIsOneProgram(t *testing.T) {
	b := tracetest.New(16)
	b.Ranks(func(i int, r *tracetest.Rank) {
		random := rand.New(rand.NewPCG(uint64(i), 1))
		call(r, "p.c:1", "MPI_Comm_split", tracetest.Args{"color": i % 3, "key": random.IntN(1000)})
		for range 2 + i {
			call(r, "p.c:2", "MPI_Barrier", nil)
			call(r, "p.c:3", "MPI_Allreduce", tracetest.Args{"count": []int{480, 360, 480, 240}[i/4]})
		}
	})
	f := exactly(t, b)
	assert.Equal(t, []string{"0-15"}, programRanks(f))
	assert.Equal(t, 16, f.Threads[0].Sequences)
	text := f.Text()
	assert.Contains(t, text, "color=(rank mod 3), key=differs by rank (")
	assert.Contains(t, text, "[table 1])")
	assert.Contains(t, text, "\ntable 1: key of MPI_Comm_split at p.c:1\n    ranks 0-15: ")
	assert.Contains(t, text, "loop rank+2 times\n")
	assert.Contains(t, text, "count=by (rank div 4): 480 (0, 2), 360 (1), 240 (3)")
}

// TestEdgesBelongToTheProgram: ranks at the edges of a grid skip calls to neighbors that they lack,
// and what completes these; a rank that skips a call to a neighbor that it has is another program.
func TestEdgesBelongToTheProgram(t *testing.T) {
	for _, odd := range []int{-1, 5} {
		const columns, ranks = 4, 16
		b := tracetest.New(ranks)
		b.Ranks(func(i int, r *tracetest.Rank) {
			for range 5 {
				if i%columns > 0 {
					call(r, "e.c:1", "MPI_Irecv", tracetest.Args{"source": i - 1, "request": tracetest.Request(0)})
				}
				if i >= columns && i != odd {
					call(r, "e.c:2", "MPI_Send", tracetest.Args{"dest": i - columns})
				}
				if i < ranks-columns && i+columns != odd {
					call(r, "e.c:3", "MPI_Recv", tracetest.Args{"source": i + columns})
				}
				if i < ranks-columns {
					call(r, "e.c:4", "MPI_Send", tracetest.Args{"dest": i + columns})
				}
				if i >= columns {
					call(r, "e.c:5", "MPI_Recv", tracetest.Args{"source": i - columns})
				}
				if i%columns < columns-1 {
					call(r, "e.c:6", "MPI_Send", tracetest.Args{"dest": i + 1})
				}
				if i%columns > 0 {
					call(r, "e.c:7", "MPI_Wait", tracetest.Args{"request": tracetest.Request(0)})
				}
			}
		})
		f := exactly(t, b)
		if odd < 0 {
			assert.Equal(t, []string{"0-15"}, programRanks(f))
			assert.NotContains(t, f.Text(), "program 1")
			continue
		}
		require.Len(t, f.Threads[0].Programs, 3)
		assert.Equal(t, []program.CallAt{{Function: "MPI_Send", CallSite: "e.c:2"}}, f.Threads[0].Programs[1].Without)
		assert.Contains(t, f.Text(), "rank 5, without MPI_Send at e.c:2")
	}
}

// TestMasterIsAnotherProgram: what only some ranks do is not for want of a neighbor.
func TestMasterIsAnotherProgram(t *testing.T) {
	b := tracetest.New(8)
	b.Ranks(func(i int, r *tracetest.Rank) {
		call(r, "m.c:1", "MPI_Barrier", nil)
		if i == 0 {
			for k := range 7 {
				call(r, "m.c:2", "MPI_Recv", tracetest.Args{"source": k + 1})
			}
		} else {
			call(r, "m.c:3", "MPI_Send", tracetest.Args{"dest": 0})
		}
	})
	f := exactly(t, b)
	assert.Equal(t, []string{"1-7", "0"}, programRanks(f))
	assert.Contains(t, f.Text(), "  program 1: ranks 1-7\n  program 2: rank 0, without MPI_Send at m.c:3, with MPI_Recv at m.c:2\n")
}

// TestNothingIsElidedOfManyValues: communicators in which ranks are numbered anew, one handle for
// several of them, lists, values that come from streams, trip counts without order, and more values
// than any line has room for.
func TestNothingIsElidedOfManyValues(t *testing.T) {
	const ranks = 24
	b := tracetest.New(ranks)
	rows, turned := make([]int, 6), make([]int, 6)
	for y := range rows {
		rows[y] = b.Comm(fmt.Sprintf("rows%d", y), 4*y, 4*y+1, 4*y+2, 4*y+3)
		turned[y] = b.Comm(fmt.Sprintf("turned%d", y), 4*y+3, 4*y+2, 4*y+1, 4*y)
	}
	b.Ranks(func(i int, r *tracetest.Rank) {
		random := rand.New(rand.NewPCG(uint64(i), 5))
		row := tracetest.Comm(rows[i/4])
		call(r, "v.c:1", "MPI_Comm_split", tracetest.Args{"color": i / 4, "key": i, "newcomm": row})
		for k := range 30 {
			for range 1 + random.IntN(3) {
				call(r, "v.c:2", "MPI_Send", tracetest.Args{"dest": (i + 1) % 4, "count": random.IntN(50), "tag": k, "comm": row})
				call(r, "v.c:3", "MPI_Barrier", nil)
			}
		}
		call(r, "v.c:4", "MPI_Comm_split", tracetest.Args{"color": i / 4, "key": -i, "newcomm": tracetest.Comm(turned[i/4])})
		call(r, "v.c:5", "MPI_Send", tracetest.Args{"dest": (i + 1) % 4, "count": 7 - i%4, "comm": tracetest.Comm(turned[i/4])})
		list := make([]int, 20)
		for k := range list {
			list[k] = random.IntN(9)
		}
		call(r, "v.c:6", "MPI_Alltoallv", tracetest.Args{"sendcounts": list})
	})
	f := exactly(t, b)
	assert.NotEmpty(t, f.Numberings)
	assert.Contains(t, f.Text(), "\ntable 1: ")
}

// TestTablesOfText: a value that does not fit into a line stands in a table, and equal tables once.
func TestTablesOfText(t *testing.T) {
	b := tracetest.New(40)
	b.Ranks(func(i int, r *tracetest.Rank) {
		square := i * i
		call(r, "t.c:1", "MPI_Allreduce", tracetest.Args{"count": square})
		call(r, "t.c:2", "MPI_Allreduce", tracetest.Args{"count": square})
		call(r, "t.c:3", "MPI_Allreduce", tracetest.Args{"count": []int{7, 9, 31}[square%7%3]})
	})
	text := exactly(t, b).Text()
	assert.Equal(t, 2, strings.Count(text, "count=differs by rank (0 to 1521, 40 values) [table 1]"), text)
	assert.Contains(t, text, "\ntable 1: count of MPI_Allreduce at t.c:1, and 1 more like it\n    ranks 0-39: 0, 1, 4, 9, 16, 25, ")
	assert.Contains(t, text, "1444, 1521\n")
}
