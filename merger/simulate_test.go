package merger

import (
	"fmt"
	"math/rand"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Functions of the simulated program.
var simulated = []trace.Function{
	{ID: 1, Name: "MPI_Init", Class: "init", Return: "int"},
	{ID: 2, Name: "MPI_Finalize", Class: "finalize", Return: "int"},
	{ID: 3, Name: "MPI_Send", Class: "send blocking standard", Return: "int", Parameters: []trace.Parameter{
		{Name: "buf", Kind: "buffer", Direction: trace.In},
		{Name: "count", Kind: "count", Direction: trace.In},
		{Name: "dest", Kind: "rank", Direction: trace.In},
		{Name: "comm", Kind: "comm", Direction: trace.In},
	}},
	{ID: 4, Name: "MPI_Recv", Class: "recv blocking", Return: "int", Parameters: []trace.Parameter{
		{Name: "count", Kind: "count", Direction: trace.In},
		{Name: "source", Kind: "rank", Direction: trace.In},
		{Name: "comm", Kind: "comm", Direction: trace.In},
		{Name: "status", Kind: "status", Direction: trace.Out},
	}},
	{ID: 5, Name: "MPI_Comm_split", Class: "comm-create collective blocking", Return: "int", Parameters: []trace.Parameter{
		{Name: "comm", Kind: "comm", Direction: trace.In},
		{Name: "newcomm", Kind: "comm", Direction: trace.Out},
	}},
	{ID: 6, Name: "MPI_Waitsome", Class: "waitsome", Return: "int", Parameters: []trace.Parameter{
		{Name: "indices", Kind: "index", Direction: trace.Out, List: true},
	}},
	{ID: 7, Name: "MPI_Comm_free", Class: "comm-free blocking", Return: "int", Parameters: []trace.Parameter{
		{Name: "comm", Kind: "comm", Direction: trace.InOut},
	}},
}

// recording builds the trace of one rank the way a recorder does.
type recording struct {
	exit      int64 // of the last call
	finalized bool
	c         *trace.Content
	info      trace.Rank
	thread    trace.Thread
	rank      int
	terminal  map[string]int32
	sequence  []int32
	streams   map[[2]int32][]int64
	own       map[int]int
}

func record(world string, size, rank int) *recording {
	r := &recording{
		rank: rank, terminal: map[string]int32{}, streams: map[[2]int32][]int64{}, own: map[int]int{},
		c: &trace.Content{
			Meta:      trace.Meta{World: world, WorldSize: size, Implementation: "Open MPI", Version: "4.1.4", ABI: "openmpi", CallSites: "caller", Timing: timing.Settings{Mode: timing.Lossless}},
			Functions: simulated,
			Sites: []trace.Site{
				{BuildID: "feed", Module: "app", Offset: 0x100},
				{BuildID: "feed", Module: "app", Offset: 0x200, Function: "main", File: "app.c", Line: 7},
			},
		},
		info: trace.Rank{
			Rank: rank, Host: fmt.Sprintf("host-%d", rank/2), PID: 100 + rank, BootID: "b", StartRealtimeNS: int64(1000 + rank),
			Clock: timing.Clock{Kind: "monotonic", Samples: []timing.ClockSample{{}, {Ticks: 1000, MonotonicNS: 1000, RealtimeNS: 1000}}},
		},
		thread: trace.Thread{Rank: rank, FirstTick: 10},
	}
	if rank%2 == 1 { // sites arrive in another order, and not all resolved
		r.c.Sites[0], r.c.Sites[1] = r.c.Sites[1], r.c.Sites[0]
	}
	all := make([]int, size)
	for i := range all {
		all[i] = i
	}
	r.addCommunicator(trace.Communicator{GlobalName: "MPI_COMM_WORLD", Members: trace.NewRankList(all)}, rank)
	r.addCommunicator(trace.Communicator{GlobalName: "MPI_COMM_SELF", Members: trace.NewRankList([]int{rank})}, 0)
	return r
}

func (r *recording) addCommunicator(c trace.Communicator, own int) int {
	id := len(r.c.Communicators)
	r.c.Communicators = append(r.c.Communicators, c)
	r.info.CommunicatorsOwn = append(r.info.CommunicatorsOwn, uint32(id))
	r.own[id] = own
	return id
}

func num(n int) trace.Value     { return trace.Value{Form: trace.Int, Int: int64(n)} }
func handle(n int) trace.Value  { return trace.Value{Form: trace.Handle, Int: int64(n)} }
func name(s string) trace.Value { return trace.Value{Form: trace.Name, Text: s} }
func streamNo(n int) trace.Value {
	return trace.Value{Form: trace.Stream, Int: int64(n)}
}

// call appends a call; values go to the streams in order.
func (r *recording) call(s trace.Signature, gap, duration int64, values ...[]int64) {
	if s.Function != 1 && s.Function != 2 {
		offset := uint64(0x100) + uint64(s.Function%2)*0x100
		for i := range r.c.Sites {
			if r.c.Sites[i].Offset == offset {
				s.Site = uint32(i) + 1
			}
		}
	}
	key := fmt.Sprint(s)
	t, ok := r.terminal[key]
	if !ok {
		t = int32(len(r.c.Signatures))
		r.terminal[key] = t
		r.c.Signatures = append(r.c.Signatures, s)
	}
	r.sequence = append(r.sequence, t)
	for n, v := range values {
		k := [2]int32{t, int32(n)}
		r.streams[k] = append(r.streams[k], v...)
	}
	th := &r.thread
	if len(th.Gaps) == 0 {
		r.exit, th.EndTick = th.FirstTick, th.FirstTick
	}
	r.exit += gap + duration
	if !r.finalized && r.exit > th.EndTick {
		th.InsideTicks += r.exit - max(r.exit-duration, th.EndTick)
		th.EndTick = r.exit
	}
	r.finalized = r.finalized || s.Function == 2
	th.Gaps = append(th.Gaps, gap)
	th.Durations = append(th.Durations, duration)
}

// content ends the recording.
func (r *recording) content() *trace.Content {
	t := &r.thread
	t.Calls = uint64(len(r.sequence))
	r.c.Grammar = chunked(r.sequence)
	for terminal := range r.c.Signatures {
		for n := int32(0); ; n++ {
			values, ok := r.streams[[2]int32{int32(terminal), n}]
			if !ok {
				break
			}
			t.Streams = append(t.Streams, trace.StreamRef{Terminal: int32(terminal), Number: n, Sequence: int32(len(r.c.Sequences))})
			r.c.Sequences = append(r.c.Sequences, codec.Sequence{Values: values})
		}
	}
	r.c.Ranks, r.c.Threads = trace.NewRankTable(r.info), trace.NewThreadTable(r.thread)
	return r.c
}

// chunked is a grammar with two levels of rules, so that rules can be shared.
func chunked(sequence []int32) grammar.Grammar {
	push := func(body []grammar.Symbol, v int32) []grammar.Symbol {
		if n := len(body); n > 0 && body[n-1].Value == v {
			body[n-1].Count++
			return body
		}
		return append(body, grammar.Symbol{Value: v, Count: 1})
	}
	index := map[string]int{}
	var inner [][]grammar.Symbol
	var order []int
	for i := 0; i < len(sequence); i += 4 {
		var body []grammar.Symbol
		for _, t := range sequence[i:min(i+4, len(sequence))] {
			body = push(body, t)
		}
		k := fmt.Sprint(body)
		id, ok := index[k]
		if !ok {
			id = len(inner)
			index[k] = id
			inner = append(inner, body)
		}
		order = append(order, id)
	}
	var root []grammar.Symbol
	for _, id := range order {
		root = push(root, grammar.RuleSymbol(1+id, 1).Value)
	}
	return grammar.Grammar{Rules: append([][]grammar.Symbol{root}, inner...)}
}

// simulate runs a stencil with a master, irregular receives and communicators
// whose handle is used again.
func simulate(world string, size, iterations int, seed int64) []*trace.Content {
	recordings := make([]*recording, size)
	for rank := range recordings {
		recordings[rank] = simulateRank(world, size, rank, iterations, rand.New(rand.NewSource(seed+int64(rank))))
	}
	contents := make([]*trace.Content, size)
	for i, r := range recordings {
		contents[i] = r.content()
	}
	return contents
}

func simulateRank(world string, size, rank, iterations int, random *rand.Rand) *recording {
	r := record(world, size, rank)
	timing := func() (int64, int64) { return random.Int63n(100), random.Int63n(100) }
	call := func(s trace.Signature, values ...[]int64) {
		gap, duration := timing()
		r.call(s, gap, duration, values...)
	}
	worldComm := name("MPI_COMM_WORLD")
	status := trace.Value{Form: trace.Status, List: []trace.Value{streamNo(0), num(5), num(0), num(0), streamNo(1)}}
	call(trace.Signature{Function: 1, OwnRank: -1})
	for i := range iterations {
		for _, d := range []int{-1, 1} {
			peer := rank + d
			if peer < 0 || peer >= size {
				call(trace.Signature{Function: 3, OwnRank: int32(rank), In: []trace.Value{{Form: trace.Pointer}, num(8), name("MPI_PROC_NULL"), worldComm}})
				continue
			}
			call(trace.Signature{Function: 3, OwnRank: int32(rank), In: []trace.Value{{Form: trace.Pointer}, num(8), num(peer), worldComm}})
			call(trace.Signature{Function: 4, OwnRank: int32(rank), In: []trace.Value{num(8), num(peer), worldComm}, Out: []trace.Value{status}},
				[]int64{int64(peer)}, []int64{8 * random.Int63n(3)})
		}
		if rank > 0 { // everybody to the master
			call(trace.Signature{Function: 3, OwnRank: int32(rank), In: []trace.Value{{Form: trace.Pointer}, num(1), num(0), worldComm}})
		} else {
			for range size - 1 {
				call(trace.Signature{Function: 4, OwnRank: 0, In: []trace.Value{num(1), name("MPI_ANY_SOURCE"), worldComm}, Out: []trace.Value{status}},
					[]int64{1 + random.Int63n(int64(size))}, []int64{8})
			}
		}
		n := random.Intn(4)
		indices := []int64{int64(n)}
		for range n {
			indices = append(indices, random.Int63n(10))
		}
		call(trace.Signature{Function: 6, OwnRank: -1, Out: []trace.Value{{Form: trace.ListStream, Int: 0}}}, indices)
		if i%3 == 0 {
			// a communicator whose handle is always 0, in which the own rank changes
			var members []int
			for k := range size {
				members = append(members, (k+i)%size)
			}
			own := (rank - i%size + size) % size
			id := r.addCommunicator(trace.Communicator{GlobalName: fmt.Sprintf("world/%d/0", i), Members: trace.NewRankList(members)}, own)
			call(trace.Signature{Function: 5, OwnRank: int32(rank), In: []trace.Value{worldComm}, Out: []trace.Value{handle(0)}, Communicator: streamNo(0)}, []int64{int64(id)})
			call(trace.Signature{Function: 4, OwnRank: int32(own), In: []trace.Value{num(3), num((own + 1) % size), handle(0)}, Out: []trace.Value{status}},
				[]int64{random.Int63n(100)}, []int64{random.Int63n(100)})
			call(trace.Signature{Function: 7, OwnRank: int32(own), In: []trace.Value{handle(0)}, Out: []trace.Value{name("MPI_COMM_NULL")}})
		}
	}
	call(trace.Signature{Function: 2, OwnRank: -1})
	return r
}
