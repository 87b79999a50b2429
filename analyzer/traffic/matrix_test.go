package traffic_test

import (
	"bytes"
	"fmt"
	"log"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/traffic"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// The matrix that is computed on the grammar equals that of the single calls.
func TestMatrixIsThatOfTheCalls(t *testing.T) {
	for _, name := range simulate.Names() {
		t.Run(name, func(t *testing.T) {
			r := open(t, file(t, simulate.Config{Pattern: name, Ranks: 16, Iterations: 12}))
			got, err := traffic.Matrix(r)
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

// Persistent sends count when they are started, and a derived datatype has no known size.
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
	got, err := traffic.Matrix(open(t, bytesOf(t, c)))
	require.NoError(t, err)
	require.Equal(t, []traffic.Pair{{Comm: 0, Source: 0, Dest: 1, Messages: 200, Bytes: 4000, Unsized: 100}}, got)
}

// A request that is created repeatedly with different counts: its starts count with the count at
// that time, also if only calls of a part of the run count and it was created before. (Three
// Send_init of 5, 7 and 11 doubles, started 2, 3 and once.)
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
			got, err := traffic.MatrixBetween(open(t, bytesOf(t, c)), func(int) (uint64, uint64) { return part.from, part.to })
			require.NoError(t, err)
			if part.messages == 0 {
				require.Empty(t, got)
				return
			}
			require.Equal(t, []traffic.Pair{{Comm: 0, Source: 0, Dest: 1, Messages: part.messages, Bytes: part.bytes}}, got)
		})
	}
}

// A call that occurs 2^60 times is evaluated once.
func TestMatrixDoesNotExpand(t *testing.T) {
	c := pingPong()
	c.Functions[0].Class = "send blocking standard"
	c.Grammar.Rules[0][0].Count = 1 << 60
	c.Threads.Change(0, func(t *trace.Thread) { t.Calls, t.Gaps, t.Durations = 1<<60, nil, nil })
	got, err := traffic.Matrix(open(t, bytesOf(t, c)))
	require.NoError(t, err)
	require.Equal(t, []traffic.Pair{{Comm: 0, Source: 0, Dest: 1, Messages: 1 << 60, Unsized: 1 << 60}}, got)
}

// The communication matrices of two parts of a run add up to that of the whole.
func TestMatrixBetweenAmongVaryingCalls(t *testing.T) {
	r := open(t, file(t, simulate.Config{Pattern: "random", Ranks: 3, Iterations: 3000, Variety: 300}))
	type pair struct{ comm, source, dest int }
	sum := func(list []traffic.Pair, into map[pair][2]uint64) map[pair][2]uint64 {
		for _, x := range list {
			p := pair{x.Comm, x.Source, x.Dest}
			into[p] = [2]uint64{into[p][0] + x.Messages, into[p][1] + x.Bytes}
		}
		return into
	}
	all, err := traffic.Matrix(r)
	require.NoError(t, err)
	for _, at := range []uint64{1, 100, 1000, 2500} {
		first, err := traffic.MatrixBetween(r, func(int) (uint64, uint64) { return 0, at })
		require.NoError(t, err)
		second, err := traffic.MatrixBetween(r, func(int) (uint64, uint64) { return at, 1 << 62 })
		require.NoError(t, err)
		require.Equal(t, sum(all, map[pair][2]uint64{}), sum(second, sum(first, map[pair][2]uint64{})), "parted at %d", at)
	}
}

// The matrix of a ring and of messages to rank 0 is exact; the traffic of one bin is distributed
// evenly and completely.
func TestEstimate(t *testing.T) {
	h := &trace.Histograms{Meta: trace.Meta{WorldSize: 4}, Clusters: []trace.RankCluster{
		{Ranks: trace.RankList{{Start: 0, Count: 3, Stride: 1}}}, {Ranks: trace.RankList{{Start: 3, Count: 1}}},
	}}
	h.Clusters[0].Traffic = []trace.TrafficBin{{Low: 1, High: 1, Messages: 6, Bytes: 60}, {Fixed: true, High: 0, Messages: 3, Bytes: 5, Unsized: 1}}
	h.Clusters[1].Traffic = []trace.TrafficBin{{Low: -3, High: -2, Messages: 5, Bytes: 50}, {Fixed: true, Low: -1, High: -1, Messages: 2}}
	matrix, known := traffic.Estimate(h, 100)
	require.True(t, known)
	require.Equal(t, []traffic.Pair{
		{Comm: -1, Source: 0, Dest: 0, Messages: 1, Bytes: 1, Unsized: 0}, {Comm: -1, Source: 0, Dest: 1, Messages: 2, Bytes: 20, Unsized: 0}, {Comm: -1, Source: 1, Dest: 0, Messages: 1, Bytes: 2, Unsized: 0}, {Comm: -1, Source: 1, Dest: 2, Messages: 2, Bytes: 20, Unsized: 0}, {Comm: -1, Source: 2, Dest: 0, Messages: 1, Bytes: 2, Unsized: 1}, {Comm: -1, Source: 2, Dest: 3, Messages: 2, Bytes: 20, Unsized: 0},
		{Comm: -1, Source: 3, Dest: -1, Messages: 2, Bytes: 0, Unsized: 0}, {Comm: -1, Source: 3, Dest: 0, Messages: 2, Bytes: 25, Unsized: 0}, {Comm: -1, Source: 3, Dest: 1, Messages: 3, Bytes: 25, Unsized: 0},
	}, matrix)
	_, known = traffic.Estimate(h, 3)
	require.False(t, known)
}

// The communication matrix, without reading the single calls.
func ExampleMatrix() {
	c := pingPong()
	c.Functions[0].Class = "send blocking standard"
	var file bytes.Buffer
	if err := trace.Write(&file, c); err != nil {
		log.Fatal(err)
	}
	reader, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	matrix, err := traffic.Matrix(reader)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range matrix {
		fmt.Println(t.Source, "to", t.Dest, t.Messages, "messages")
	}
	// Output: 0 to 1 1000 messages
}

// pingPong returns a trace of two ranks: rank 0 sends to rank 1 a thousand times.
func pingPong() *trace.Content {
	world := trace.Value{Form: trace.Name, Text: "MPI_COMM_WORLD"}
	peer := func(offset int64) trace.Value { return trace.Value{Form: trace.RankOffset, Int: offset} }
	tag := trace.Value{Form: trace.Int, Int: 7}
	success := trace.Value{Form: trace.Int}
	status := trace.Value{Form: trace.Status, List: []trace.Value{peer(-1), tag, {Form: trace.Int}, {Form: trace.Int},
		{Form: trace.Stream, Int: 0}}}
	sizes := make([]int64, 1000)
	for i := range sizes {
		sizes[i] = int64(8 * i)
	}
	rank := func(r int) trace.Rank {
		return trace.Rank{Rank: r, Host: "laptop", Clock: timing.Clock{Kind: "monotonic"}, CommunicatorsOwn: []uint32{0}}
	}
	return &trace.Content{
		Meta: trace.Meta{Final: true, WorldSize: 2, Implementation: "Open MPI", Timing: timing.Settings{Mode: timing.Lossless}},
		Functions: []trace.Function{
			{ID: 1, Name: "MPI_Send", Return: "int", Parameters: []trace.Parameter{
				{Name: "dest", Kind: "rank", Direction: trace.In}, {Name: "tag", Kind: "tag", Direction: trace.In},
				{Name: "comm", Kind: "comm", Direction: trace.In}}},
			{ID: 2, Name: "MPI_Recv", Return: "int", Parameters: []trace.Parameter{
				{Name: "source", Kind: "rank", Direction: trace.In}, {Name: "tag", Kind: "tag", Direction: trace.In},
				{Name: "comm", Kind: "comm", Direction: trace.In}, {Name: "status", Kind: "status", Direction: trace.Out}}},
		},
		Signatures: []trace.Signature{
			{Function: 1, OwnRank: -1, In: []trace.Value{peer(1), tag, world}, Return: success},
			{Function: 2, OwnRank: -1, In: []trace.Value{peer(-1), tag, world}, Out: []trace.Value{status}, Return: success},
		},
		Communicators: []trace.Communicator{
			{GlobalName: "MPI_COMM_WORLD", Members: trace.NewRankList([]int{0, 1})},
		},
		Grammar:   grammar.Grammar{Rules: [][]grammar.Symbol{{{Value: 0, Count: 1000}}, {{Value: 1, Count: 1000}}}},
		Sequences: []codec.Sequence{{Values: sizes}},
		Ranks:     trace.NewRankTable(rank(0), rank(1)),
		Threads: trace.NewThreadTable([]trace.Thread{
			{Rank: 0, Root: 0, Calls: 1000, FirstTick: 100, Gaps: make([]int64, 1000), Durations: make([]int64, 1000)},
			{Rank: 1, Root: 1, Calls: 1000, FirstTick: 200, Gaps: make([]int64, 1000), Durations: make([]int64, 1000),
				Streams: []trace.StreamRef{{Terminal: 1, Number: 0, Sequence: 0}}},
		}...),
	}
}

func file(t testing.TB, config simulate.Config) []byte {
	t.Helper()
	sim, err := simulate.New(config)
	require.NoError(t, err)
	contents, err := sim.Contents()
	require.NoError(t, err)
	merged, err := merger.Merge(contents, merger.Options{Final: true})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, trace.Write(&b, merged))
	return b.Bytes()
}

func open(t testing.TB, b []byte) *trace.Reader {
	t.Helper()
	r, err := trace.Open(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	return r
}

func bytesOf(t testing.TB, c *trace.Content) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, trace.Write(&b, c))
	return b.Bytes()
}
