package trace_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// The matrix that is computed on the grammar is that of all calls, one by one.
func TestMatrixIsThatOfTheCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("it has one goroutine")
	}
	for _, name := range simulate.Names() {
		t.Run(name, func(t *testing.T) {
			r := open(t, file(t, simulate.Config{Pattern: name, Ranks: 16, Iterations: 12}))
			got, err := r.Matrix()
			require.NoError(t, err)
			sum := map[[3]int][2]uint64{}
			for _, thread := range r.Threads().All() {
				cursor, err := r.Cursor(thread.Rank, thread.Thread)
				require.NoError(t, err)
				for cursor.Next() {
					e := cursor.Event()
					switch e.Function.Name {
					case "MPI_Send", "MPI_Isend", "MPI_Sendrecv":
						k := [3]int{e.Comm, e.Rank, r.Communicators()[e.Comm].Members.At(int(e.In[3].Int))}
						sum[k] = [2]uint64{sum[k][0] + 1, sum[k][1] + uint64(e.In[1].Int)}
					}
				}
				require.NoError(t, cursor.Err())
			}
			require.Len(t, got, len(sum))
			for _, x := range got {
				require.Equal(t, sum[[3]int{x.Comm, x.Source, x.Dest}], [2]uint64{x.Messages, x.Bytes}, "%+v", x)
				require.Zero(t, x.Unsized)
			}
		})
	}
}

// Persistent sends count when they are started, and a derived datatype has no size that is known.
func TestMatrixOfPersistentSends(t *testing.T) {
	num := func(n int64) trace.Value { return trace.Value{Form: trace.Int, Int: n} }
	name := func(s string) trace.Value { return trace.Value{Form: trace.Name, Text: s} }
	handle := func(n int64) trace.Value { return trace.Value{Form: trace.Handle, Int: n} }
	send := []trace.Parameter{
		{Name: "count", Kind: "count", Direction: trace.In}, {Name: "datatype", Kind: "datatype", Direction: trace.In},
		{Name: "dest", Kind: "rank", Direction: trace.In}, {Name: "comm", Kind: "comm", Direction: trace.In},
		{Name: "request", Kind: "request", Direction: trace.Out},
	}
	c := pingPong()
	c.Functions = []trace.Function{
		{ID: 1, Name: "MPI_Send_init", Class: "send persistent standard", Parameters: send},
		{ID: 2, Name: "MPI_Startall", Class: "startall", Parameters: []trace.Parameter{
			{Name: "array_of_requests", Kind: "request", Direction: trace.InOut, List: true}}},
	}
	requests := trace.Value{Form: trace.List, List: []trace.Value{handle(0), handle(1), handle(7)}}
	world := name("MPI_COMM_WORLD")
	c.Signatures = []trace.Signature{
		{Function: 1, OwnRank: -1, In: []trace.Value{num(5), name("MPI_DOUBLE"), num(1), world}, Out: []trace.Value{handle(0)}},
		{Function: 1, OwnRank: -1, In: []trace.Value{num(5), handle(3), num(1), world}, Out: []trace.Value{handle(1)}},
		{Function: 1, OwnRank: -1, In: []trace.Value{num(5), name("MPI_INT"), name("MPI_PROC_NULL"), world}, Out: []trace.Value{handle(2)}},
		{Function: 2, OwnRank: -1, In: []trace.Value{requests}, Out: []trace.Value{requests}},
	}
	c.Grammar.Rules = [][]grammar.Symbol{{{Value: 0, Count: 1}, {Value: 1, Count: 1}, {Value: 2, Count: 1}, {Value: 3, Count: 100}}}
	c.Threads = trace.NewThreadTable(trace.Thread{Rank: 0, Root: 0, Calls: 103})
	c.Sequences = nil
	got, err := open(t, bytesOf(t, c)).Matrix()
	require.NoError(t, err)
	require.Equal(t, []trace.Traffic{{Comm: 0, Source: 0, Dest: 1, Messages: 200, Bytes: 4000, Unsized: 100}}, got)
}

// A request that is made anew with another count each time: its starts count with the count that it had then, also where
// only the calls of a part count, made before it. (Three Send_init of 5, 7 and 11 doubles, started 2, 3 and once.)
func TestMatrixOfPersistentSendsThatVary(t *testing.T) {
	num := func(n int64) trace.Value { return trace.Value{Form: trace.Int, Int: n} }
	handle := func(n int64) trace.Value { return trace.Value{Form: trace.Handle, Int: n} }
	c := pingPong()
	c.Functions = []trace.Function{
		{ID: 1, Name: "MPI_Send_init", Class: "send persistent standard", Parameters: []trace.Parameter{
			{Name: "count", Kind: "count", Direction: trace.In}, {Name: "datatype", Kind: "datatype", Direction: trace.In},
			{Name: "dest", Kind: "rank", Direction: trace.In}, {Name: "comm", Kind: "comm", Direction: trace.In},
			{Name: "request", Kind: "request", Direction: trace.Out},
		}},
		{ID: 2, Name: "MPI_Start", Class: "start", Parameters: []trace.Parameter{{Name: "request", Kind: "request", Direction: trace.InOut}}},
	}
	c.Signatures = []trace.Signature{
		{Function: 1, OwnRank: -1, In: []trace.Value{{Form: trace.Stream, Int: 0}, {Form: trace.Name, Text: "MPI_DOUBLE"}, num(1), {Form: trace.Name, Text: "MPI_COMM_WORLD"}}, Out: []trace.Value{handle(0)}},
		{Function: 2, OwnRank: -1, In: []trace.Value{handle(0)}, Out: []trace.Value{handle(0)}},
	}
	c.Grammar.Rules = [][]grammar.Symbol{{{Value: 0, Count: 1}, {Value: 1, Count: 2}, {Value: 0, Count: 1}, {Value: 1, Count: 3}, {Value: 0, Count: 1}, {Value: 1, Count: 1}}}
	c.Threads = trace.NewThreadTable(trace.Thread{Rank: 0, Root: 0, Calls: 9, Streams: []trace.StreamRef{{Terminal: 0, Number: 0, Sequence: 0}}})
	c.Sequences = []codec.Sequence{{Values: []int64{5, 7, 11}}}
	for name, part := range map[string]struct {
		from, to        uint64
		messages, bytes uint64
	}{
		"all":                        {0, 9, 6, 8 * (2*5 + 3*7 + 11)},
		"the second one's starts":    {4, 7, 3, 8 * 3 * 7},
		"a start of each but one":    {2, 5, 2, 8 * (5 + 7)},
		"after all have been made":   {8, 9, 1, 8 * 11},
		"no start, only a Send_init": {3, 4, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := open(t, bytesOf(t, c)).MatrixBetween(func(int) (uint64, uint64) { return part.from, part.to })
			require.NoError(t, err)
			if part.messages == 0 {
				require.Empty(t, got)
				return
			}
			require.Equal(t, []trace.Traffic{{Comm: 0, Source: 0, Dest: 1, Messages: part.messages, Bytes: part.bytes}}, got)
		})
	}
}

// What comes 2^60 times is looked at once.
func TestMatrixDoesNotExpand(t *testing.T) {
	c := pingPong()
	c.Functions[0].Class = "send blocking standard"
	c.Grammar.Rules[0][0].Count = 1 << 60
	c.Threads.Change(0, func(t *trace.Thread) { t.Calls, t.Gaps, t.Durations = 1<<60, nil, nil })
	got, err := open(t, bytesOf(t, c)).Matrix()
	require.NoError(t, err)
	require.Equal(t, []trace.Traffic{{Comm: 0, Source: 0, Dest: 1, Messages: 1 << 60, Unsized: 1 << 60}}, got)
}
