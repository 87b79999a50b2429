package trace

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/stretchr/testify/require"
)

// In a trace that mostly consists of the values of one call, cursors on many threads at once read
// them within the default limit, like analyses, and a cursor that ends releases its memory.
func TestCursorsShareTheMemory(t *testing.T) {
	r := opened(t, written(t, wtimes(t, 100_000)))
	start := r.budget.Left()
	var cursors []*Cursor
	for range 40 {
		c, err := r.Cursor(0, 0)
		require.NoError(t, err)
		for range 1000 {
			require.True(t, c.Next(), "%v", c.Err())
		}
		cursors = append(cursors, c)
	}
	shared := start - r.budget.Left()
	for _, c := range cursors {
		for c.Next() {
		}
		require.NoError(t, c.Err())
	}
	require.LessOrEqual(t, start-r.budget.Left(), shared)
	require.Less(t, shared, int64(16<<20))
}

// If the memory is exhausted, the error says so.
func TestStreamBeyondTheLimit(t *testing.T) {
	b := written(t, wtimes(t, 100_000))
	c, err := opened(t, b, WithMemoryLimit(125_000)).Cursor(0, 0)
	require.NoError(t, err)
	for c.Next() {
	}
	require.ErrorContains(t, c.Err(), "WithMemoryLimit")
}

// wtimes is a thread that calls MPI_Wtime: what it returns has a structure, which a grammar
// catches, but few of the values are the same.
func wtimes(t testing.TB, calls int) *Content {
	r := rand.New(rand.NewPCG(3, 5))
	values := make([]int64, calls)
	for i, x := 0, int64(math.Float64bits(1e5)); i < calls; i++ {
		x += 14551 + 14552*int64(r.IntN(2)) + 100_000*int64(r.IntN(2))
		values[i] = x
	}
	encoded := codec.NewValueStream(codec.AppendSequence(nil, values), nil)
	require.True(t, encoded.IsGrammar())
	c := stencil(1, 1, false)
	returnsValues(c, values)
	return c
}

// returnsValues makes the first thread one that only calls MPI_Wtime, which returns these values.
func returnsValues(c *Content, values []int64) {
	terminal := int32(len(c.Signatures))
	c.Signatures = append(c.Signatures, Signature{Function: 9, OwnRank: -1, Return: stream(0)})
	c.Threads.Change(0, func(thread *Thread) {
		thread.Root, thread.Calls = len(c.Grammar.Rules), uint64(len(values))
		thread.Streams = []StreamRef{{Terminal: terminal, Sequence: int32(len(c.Sequences))}}
	})
	c.Grammar.Rules = append(c.Grammar.Rules, []grammar.Symbol{{Value: terminal, Count: uint64(len(values))}})
	c.Sequences = append(c.Sequences, codec.Sequence{Values: values})
}
