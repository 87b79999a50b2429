package trace

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/stretchr/testify/require"
)

// one makes a trace of one rank with one call of every signature, in order, and the given streams.
func one(functions []Function, signatures []Signature, streams map[StreamRef][]int64) *Content {
	c := &Content{Functions: functions, Signatures: signatures, Ranks: NewRankTable(Rank{Rank: 0, Clock: timing.Clock{Kind: "monotonic"}})}
	body := []grammar.Symbol{}
	for i := range signatures {
		body = append(body, grammar.Symbol{Value: int32(i), Count: 1})
	}
	t := Thread{Calls: uint64(len(body)), FirstTick: 1000}
	for i := range body {
		t.Gaps = append(t.Gaps, int64(10*min(i, 1)))
		t.Durations = append(t.Durations, 5)
	}
	for terminal := range int32(len(signatures)) {
		for number := range int32(20) {
			if values, ok := streams[StreamRef{Terminal: terminal, Number: number}]; ok {
				t.Streams = append(t.Streams, StreamRef{terminal, number, int32(len(c.Sequences))})
				c.Sequences = append(c.Sequences, codec.Sequence{Values: values})
			}
		}
	}
	c.Threads = NewThreadTable(t)
	c.Grammar = grammar.Grammar{Rules: [][]grammar.Symbol{body}}
	return c
}

// lists is a thread whose calls have lists, statuses and strings.
func lists() *Content {
	status := Value{Form: Status, List: []Value{stream(1), stream(2), stream(3), stream(4), stream(5)}}
	listStream := func(k int64) Value { return Value{Form: ListStream, Int: k} }
	request := func(id int64) Value { return Value{Form: Handle, Int: id} }
	functions := []Function{
		{ID: 1, Name: "MPI_Wtime", Return: "double"},
		{ID: 2, Name: "MPI_Wait", Return: "int", Parameters: []Parameter{
			{"request", "request", InOut, false}, {"status", "status", Out, false}}},
		{ID: 3, Name: "MPI_Test", Return: "int", Parameters: []Parameter{
			{"request", "request", InOut, false}, {"flag", "bool", Out, false}, {"status", "status", Out, false}}},
		{ID: 4, Name: "MPI_Testsome", Return: "int", Parameters: []Parameter{
			{"incount", "count", In, false}, {"array_of_requests", "request", InOut, true}, {"outcount", "int", Out, false},
			{"array_of_indices", "index", Out, true}, {"array_of_statuses", "status", Out, true}}},
		{ID: 5, Name: "MPI_Info_set", Return: "int", Parameters: []Parameter{
			{"info", "info", In, false}, {"key", "string", In, false}, {"value", "string", In, false},
			{"extra", "buffer", In, false}}},
	}
	return one(functions, []Signature{
		{Function: 1, OwnRank: -1, Return: stream(0)},
		{Function: 2, OwnRank: -1, In: []Value{request(3)}, Out: []Value{named("MPI_REQUEST_NULL"), status},
			Return: number(0)},
		{Function: 3, OwnRank: -1, In: []Value{request(3)}, Out: []Value{{Form: Absent}, stream(0), listStream(1)},
			Return: number(0)},
		{Function: 4, OwnRank: -1, In: []Value{number(3), {Form: List, List: []Value{request(1), request(2),
			named("MPI_REQUEST_NULL")}}}, Out: []Value{{Form: Absent}, stream(0), listStream(1), listStream(2)},
			Return: number(0)},
		{Function: 5, OwnRank: -1, In: []Value{request(0), {Form: Text, Text: "a\"b\n\x01é"}, {Form: Null},
			{Form: Pointer}}, Return: number(34)},
	}, map[StreamRef][]int64{
		{Terminal: 0, Number: 0}: {int64(math.Float64bits(1.5))},
		{Terminal: 1, Number: 1}: {2}, {Terminal: 1, Number: 2}: {7}, {Terminal: 1, Number: 3}: {0},
		{Terminal: 1, Number: 4}: {1}, {Terminal: 1, Number: 5}: {-1},
		{Terminal: 2, Number: 0}: {0}, {Terminal: 2, Number: 1}: {0},
		{Terminal: 3, Number: 0}: {2}, {Terminal: 3, Number: 1}: {2, 1, 0},
		{Terminal: 3, Number: 2}: {10, 4, 5, 0, 0, 8, 6, 7, 0, 0, 16},
	})
}

func TestEventTextAndJSON(t *testing.T) {
	c := lists()
	want := []struct{ text, json string }{
		{
			`MPI_Wtime() = 1.5`,
			`{"rank":0,"thread":0,"index":0,"function":"MPI_Wtime","args":{},"return":1.5,"start_ns":1000,"duration_ns":5}`,
		},
		{
			`MPI_Wait(request=request#3→MPI_REQUEST_NULL, status={source=2, tag=7, cancelled=1, bytes=-1}) = MPI_SUCCESS`,
			`{"rank":0,"thread":0,"index":1,"function":"MPI_Wait","args":{"request":{"in":"request#3",` +
				`"out":"MPI_REQUEST_NULL"},"status":{"source":2,"tag":7,"error":0,"cancelled":1,"bytes":-1}},"return":0,` +
				`"start_ns":1015,"duration_ns":5}`,
		},
		{
			`MPI_Test(request=request#3, flag=0, status=-) = MPI_SUCCESS`,
			`{"rank":0,"thread":0,"index":2,"function":"MPI_Test","args":{"request":"request#3","flag":0,"status":null},` +
				`"return":0,"start_ns":1030,"duration_ns":5}`,
		},
		{
			`MPI_Testsome(incount=3, array_of_requests=[request#1, request#2, MPI_REQUEST_NULL], outcount=2, ` +
				`array_of_indices=[1, 0], array_of_statuses=[{source=4, tag=5, bytes=8}, {source=6, tag=7, bytes=16}]) = ` +
				`MPI_SUCCESS`,
			`{"rank":0,"thread":0,"index":3,"function":"MPI_Testsome","args":{"incount":3,"array_of_requests":["request#1",` +
				`"request#2","MPI_REQUEST_NULL"],"outcount":2,"array_of_indices":[1,0],"array_of_statuses":[` +
				`{"source":4,"tag":5,"error":0,"cancelled":0,"bytes":8},{"source":6,"tag":7,"error":0,"cancelled":0,` +
				`"bytes":16}]},"return":0,"start_ns":1045,"duration_ns":5}`,
		},
		{
			`MPI_Info_set(info=info#0, key="a\"b\n\x01é", value=NULL, extra=…) = 34`,
			`{"rank":0,"thread":0,"index":4,"function":"MPI_Info_set","args":{"info":"info#0","key":"a\"b\n\u0001é",` +
				`"value":null,"extra":"…"},"return":34,"start_ns":1060,"duration_ns":5}`,
		},
	}
	for _, r := range []interface {
		Cursor(rank, thread int) (*Cursor, error)
	}{c, opened(t, written(t, c))} {
		cursor, err := r.Cursor(0, 0)
		require.NoError(t, err)
		for _, w := range want {
			require.True(t, cursor.Next(), "%v", cursor.Err())
			require.Equal(t, w.text, cursor.Event().Text())
			b := cursor.Event().AppendJSON(nil)
			require.Equal(t, w.json, string(b))
			require.True(t, json.Valid(b))
		}
		require.False(t, cursor.Next())
		require.NoError(t, cursor.Err())
	}
}

func TestCursorNamesWhatIsMissing(t *testing.T) {
	functions := []Function{{ID: 1, Name: "MPI_Send", Return: "int", Parameters: []Parameter{
		{"dest", "rank", In, false}, {"comm", "comm", In, false}}}}
	for _, test := range []struct {
		name    string
		value   Value
		streams map[StreamRef][]int64
		want    string
	}{
		{"no stream", stream(0), nil, "missing"},
		{"empty stream", stream(0), map[StreamRef][]int64{{}: {}}, "too early"},
		{"short list", Value{Form: ListStream}, map[StreamRef][]int64{{}: {2, 1}}, "too early"},
		{"peer of nobody", Value{Form: RankOffset, Int: 1}, nil, "not known"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := one(functions, []Signature{{Function: 1, OwnRank: -1, In: []Value{test.value, {Form: Handle}}}}, test.streams)
			cursor, err := c.Cursor(0, 0)
			require.NoError(t, err)
			require.False(t, cursor.Next())
			require.ErrorContains(t, cursor.Err(), test.want)
			require.ErrorContains(t, cursor.Err(), "rank 0 thread 0 call 0")
			require.False(t, cursor.Next())
		})
	}
}

// Two threads share one rank's handles. Thread 1 makes comm#0 twice; thread 0 uses what is current.
func TestThreadsShareCommunicators(t *testing.T) {
	functions := []Function{
		{ID: 1, Name: "MPI_Comm_dup", Return: "int", Parameters: []Parameter{
			{"comm", "comm", In, false}, {"newcomm", "comm", Out, false}}},
		{ID: 2, Name: "MPI_Barrier", Return: "int", Parameters: []Parameter{{"comm", "comm", In, false}}},
	}
	handle := Value{Form: Handle, Int: 0}
	c := &Content{
		Functions: functions,
		Communicators: []Communicator{
			{GlobalName: commWorld, Members: RankList{{0, 4, 1}}},
			{GlobalName: "a", Members: RankList{{3, 4, -1}}},
			{GlobalName: "b", Members: RankList{{0, 4, 1}}},
		},
		Signatures: []Signature{
			{Function: 1, OwnRank: -1, In: []Value{named(commWorld)}, Out: []Value{handle}, Communicator: stream(0)},
			{Function: 2, OwnRank: -1, In: []Value{handle}},
		},
		Grammar:   grammar.Grammar{Rules: [][]grammar.Symbol{{{Value: 1, Count: 2}}, {{Value: 0, Count: 2}}}},
		Sequences: []codec.Sequence{{Values: []int64{1, 2}}},
		Ranks:     NewRankTable(Rank{Rank: 0, Clock: timing.Clock{Kind: "monotonic"}, CommunicatorsOwn: []uint32{0, 1, 2}}),
		Threads: NewThreadTable([]Thread{
			{Thread: 0, Root: 0, Calls: 2, FirstTick: 20, Gaps: []int64{0, 30}, Durations: []int64{1, 1}},
			{Thread: 1, Root: 1, Calls: 2, FirstTick: 10, Gaps: []int64{0, 20}, Durations: []int64{1, 1},
				Streams: []StreamRef{{0, 0, 0}}},
		}...),
	}
	r := opened(t, written(t, c))
	cursor, err := r.Cursor(0, 0)
	require.NoError(t, err)
	require.True(t, cursor.Next())
	require.Equal(t, 1, cursor.Event().Comm)
	require.Equal(t, 3, cursor.Event().OwnRank)
	require.True(t, cursor.Next())
	require.Equal(t, 2, cursor.Event().Comm)
	require.Equal(t, 0, cursor.Event().OwnRank)
}

func TestCountsNeedNoExpansion(t *testing.T) {
	c := one(testFunctions, []Signature{{Function: 3, OwnRank: -1}, {Function: 4, OwnRank: -1}, {Function: 3, OwnRank: 1}}, nil)
	c.Grammar = grammar.Grammar{Rules: [][]grammar.Symbol{{grammar.RuleSymbol(1, 1<<40), {Value: 2, Count: 5}}, {{Value: 0, Count: 1 << 10}, {Value: 1, Count: 1}}}}
	counts, err := c.Counts()
	require.NoError(t, err)
	require.Equal(t, []Count{{0, 3, 1<<50 + 5}, {0, 4, 1 << 40}}, counts)
}

// A call changed an inout parameter if any part of the value differs, at any depth.
func TestChangedComparesWholeValues(t *testing.T) {
	list := func(values ...Value) Value { return Value{Form: List, List: values} }
	plain := Value{Form: Pointer, Int: 3, Offset: 8, Text: "x"}
	for name, change := range map[string]func(v *Value){
		"form":           func(v *Value) { v.Form = Handle },
		"number":         func(v *Value) { v.Int++ },
		"offset":         func(v *Value) { v.Offset++ },
		"text":           func(v *Value) { v.Text = "y" },
		"longer list":    func(v *Value) { v.List = []Value{{}} },
		"nothing at all": func(*Value) {},
	} {
		other := plain
		change(&other)
		for _, pair := range [][2]Value{
			{plain, other}, {other, plain},
			{list(plain, list(plain)), list(plain, list(other))}, {list(other, plain), list(plain, plain)},
		} {
			a := argument{before: &pair[0], after: &pair[1]}
			require.Equal(t, name != "nothing at all", a.changed(), name)
		}
	}
	require.False(t, (&argument{before: &plain}).changed())
	require.False(t, (&argument{after: &plain}).changed())
}
