package trace_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// pingPong is a trace of two ranks: rank 0 sends to rank 1 a thousand times.
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

// Write a trace, open it, and go through the calls of a rank.
func Example() {
	var file bytes.Buffer
	if err := trace.Write(&file, pingPong()); err != nil {
		log.Fatal(err)
	}
	reader, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(reader.Meta().Implementation, "with", reader.Meta().WorldSize, "ranks")
	cursor, err := reader.Cursor(1, 0)
	if err != nil {
		log.Fatal(err)
	}
	for cursor.Next() && cursor.Event().Index < 3 {
		fmt.Println(cursor.Event().Text())
	}
	if err := cursor.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Open MPI with 2 ranks
	// MPI_Recv(source=0, tag=7, comm=MPI_COMM_WORLD, status={source=0, tag=7, bytes=0}) = MPI_SUCCESS
	// MPI_Recv(source=0, tag=7, comm=MPI_COMM_WORLD, status={source=0, tag=7, bytes=8}) = MPI_SUCCESS
	// MPI_Recv(source=0, tag=7, comm=MPI_COMM_WORLD, status={source=0, tag=7, bytes=16}) = MPI_SUCCESS
}

// Count calls without going through them.
func ExampleContent_Counts() {
	c := pingPong()
	counts, err := c.Counts()
	if err != nil {
		log.Fatal(err)
	}
	for _, count := range counts {
		fmt.Println("rank", count.Rank, "function", count.Function, count.Calls)
	}
	// Output:
	// rank 0 function 1 1000
	// rank 1 function 2 1000
}

func ExampleEvent_AppendJSON() {
	cursor, err := pingPong().Cursor(1, 0)
	if err != nil {
		log.Fatal(err)
	}
	cursor.Next()
	fmt.Println(string(cursor.Event().AppendJSON(nil)))
	// Output:
	// {"rank":1,"thread":0,"index":0,"function":"MPI_Recv","args":{"source":0,"tag":7,"comm":"MPI_COMM_WORLD","status":{"source":0,"tag":7,"error":0,"cancelled":0,"bytes":0}},"return":0,"start_ns":200,"duration_ns":0}
}

// Go to a call in the middle.
func ExampleCursor_Seek() {
	cursor, err := pingPong().Cursor(1, 0)
	if err != nil {
		log.Fatal(err)
	}
	cursor.Seek(500)
	for cursor.Next() && cursor.Event().Index < 502 {
		fmt.Println(cursor.Event().Index, cursor.Event().Text())
	}
	// Output:
	// 500 MPI_Recv(source=0, tag=7, comm=MPI_COMM_WORLD, status={source=0, tag=7, bytes=4000}) = MPI_SUCCESS
	// 501 MPI_Recv(source=0, tag=7, comm=MPI_COMM_WORLD, status={source=0, tag=7, bytes=4008}) = MPI_SUCCESS
}
