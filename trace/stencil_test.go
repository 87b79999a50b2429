package trace

import (
	"math/rand/v2"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Functions of the synthetic traces that the tests use.
var testFunctions = []Function{
	{ID: 1, Name: "MPI_Init", Class: "init", Return: "int"},
	{ID: 2, Name: "MPI_Finalize", Class: "finalize", Return: "int"},
	{ID: 3, Name: "MPI_Send", Class: "send blocking standard", Return: "int", Parameters: []Parameter{
		{"buf", "buffer", In, false}, {"count", "count", In, false}, {"datatype", "datatype", In, false},
		{"dest", "rank", In, false}, {"tag", "tag", In, false}, {"comm", "comm", In, false},
	}},
	{ID: 4, Name: "MPI_Recv", Class: "recv blocking", Return: "int", Parameters: []Parameter{
		{"buf", "buffer", Out, false}, {"count", "count", In, false}, {"datatype", "datatype", In, false},
		{"source", "rank", In, false}, {"tag", "tag", In, false}, {"comm", "comm", In, false},
		{"status", "status", Out, false},
	}},
	{ID: 5, Name: "MPI_Comm_split", Class: "comm-create collective blocking", Return: "int", Parameters: []Parameter{
		{"comm", "comm", In, false}, {"color", "color", In, false}, {"key", "key", In, false},
		{"newcomm", "comm", Out, false},
	}},
	{ID: 6, Name: "MPI_Allreduce", Class: "collective blocking", Return: "int", Parameters: []Parameter{
		{"sendbuf", "buffer", In, false}, {"recvbuf", "buffer", Out, false}, {"count", "count", In, false},
		{"datatype", "datatype", In, false}, {"op", "op", In, false}, {"comm", "comm", In, false},
	}},
	{ID: 7, Name: "MPI_Comm_free", Class: "comm-free", Return: "int", Parameters: []Parameter{
		{"comm", "comm", InOut, false},
	}},
	{ID: 8, Name: "MPI_Waitsome", Class: "waitsome", Return: "int", Parameters: []Parameter{
		{"incount", "count", In, false}, {"array_of_requests", "request", InOut, true}, {"outcount", "int", Out, false},
		{"array_of_indices", "index", Out, true}, {"array_of_statuses", "status", Out, true},
	}},
	{ID: 9, Name: "MPI_Wtime", Class: "query", Return: "double"},
}

func number(x int64) Value    { return Value{Form: Int, Int: x} }
func named(name string) Value { return Value{Form: Name, Text: name} }
func stream(k int64) Value    { return Value{Form: Stream, Int: k} }

// stencil makes the trace of a job of ranks on a ring (not periodic: the ends have MPI_PROC_NULL) that exchange with
// both neighbors and reduce every tenth step; half of the steps on a communicator of the even and the odd ranks.
// Rank 0 has the wildcard: its received sources come from a stream.
func stencil(ranks, steps int, timed bool) *Content {
	c := &Content{
		Meta: Meta{Final: true, World: "w", WorldSize: ranks, Implementation: "Open MPI", Version: "4.1.4",
			ABI: "openmpi", CreatedBy: "test", CallSites: "caller", Timing: timing.Settings{Mode: timing.Lossless},
			MissingRanks: nil, Notes: []string{"synthetic"}},
		Functions: testFunctions,
		Sites: []Site{{BuildID: "aabb", Module: "stencil", Offset: 0x1234, Function: "exchange", File: "stencil.c", Line: 17},
			{BuildID: "aabb", Module: "stencil", Offset: 0x1334, Function: "main", File: "stencil.c", Line: 40}},
		Communicators: []Communicator{
			{GlobalName: "MPI_COMM_WORLD", Members: RankList{{0, ranks, 1}}},
			{GlobalName: "split 0", Members: RankList{{0, (ranks + 1) / 2, 2}}, Label: "even"},
			{GlobalName: "split 1", Members: RankList{{1, ranks / 2, 2}},
				Topology: Topology{Dims: []int{ranks / 2}, Periodic: []bool{true}}},
		},
	}
	terminals := map[string]int32{}
	terminal := func(s Signature) int32 {
		s.OwnRank = -1
		key := string(AppendSignature(nil, &s))
		terminal, known := terminals[key]
		if !known {
			terminal = int32(len(c.Signatures))
			terminals[key] = terminal
			c.Signatures = append(c.Signatures, s)
		}
		return terminal
	}
	pointer := Value{Form: Pointer}
	peer := func(rank, offset int) Value {
		if p := rank + offset; p < 0 || p >= ranks {
			return named("MPI_PROC_NULL")
		}
		return Value{Form: RankOffset, Int: int64(offset)}
	}
	success := number(0)
	handle := Value{Form: Handle, Int: 0}
	sequences := codec.NewListTable()
	roots := codec.NewListTable() // sequences of terminals, to share roots
	rootRule := []int{}
	r := rand.New(rand.NewPCG(5, 5))
	var grammars []grammar.Grammar
	for rank := range ranks {
		var terminals []int64
		add := func(s Signature) { terminals = append(terminals, int64(terminal(s))) }
		var sources []int64
		init := terminal(Signature{Function: 1, Return: success})
		add(Signature{Function: 1, Return: success})
		split := Signature{Function: 5, Return: success, Communicator: stream(0),
			In: []Value{named("MPI_COMM_WORLD"), stream(1), number(0)}, Out: []Value{handle}}
		for step := range steps {
			if step == steps/2 {
				add(split)
			}
			for _, offset := range []int{-1, 1} {
				add(Signature{Function: 3, Site: 1, Return: success, In: []Value{
					pointer, number(100), named("MPI_DOUBLE"), peer(rank, offset), number(7), named("MPI_COMM_WORLD")}})
				source := peer(rank, offset)
				status := Value{Form: Status, List: []Value{source, number(7), number(0), number(0), number(800)}}
				if source.Form == Name {
					status.List[0] = number(-2)
				}
				if rank == 0 && offset == 1 {
					source = named("MPI_ANY_SOURCE")
					status.List[0] = stream(0)
					sources = append(sources, int64(1+r.IntN(max(ranks-1, 1))))
				}
				add(Signature{Function: 4, Site: 1, Return: success, In: []Value{
					number(100), named("MPI_DOUBLE"), source, number(7), named("MPI_COMM_WORLD")},
					Out: []Value{pointer, status}})
			}
			if step%10 == 9 {
				comm := named("MPI_COMM_WORLD")
				if step >= steps/2 {
					comm = handle
				}
				add(Signature{Function: 6, Site: 2, Return: success, In: []Value{
					pointer, number(1), named("MPI_DOUBLE"), named("MPI_SUM"), comm}, Out: []Value{pointer}})
			}
		}
		add(Signature{Function: 2, Return: success})
		_ = init
		k := roots.Index(terminals)
		if k == len(grammars) {
			s := grammar.NewSequitur()
			for _, t := range terminals {
				s.Append(int32(t))
			}
			grammars = append(grammars, s.Grammar())
			rootRule = append(rootRule, len(c.Grammar.Rules))
			offset := len(c.Grammar.Rules)
			for _, body := range grammars[k].Rules {
				shifted := make([]grammar.Symbol, len(body))
				for i, symbol := range body {
					if symbol.IsRule() {
						symbol = grammar.RuleSymbol(symbol.Rule()+offset, symbol.Count)
					}
					shifted[i] = symbol
				}
				c.Grammar.Rules = append(c.Grammar.Rules, shifted)
			}
		}
		parity := int64(rank % 2)
		streams := []StreamRef{
			{terminal(split), 0, int32(sequences.Index([]int64{1}))},
			{terminal(split), 1, int32(sequences.Index([]int64{parity}))},
		}
		if rank == 0 && len(sources) > 0 {
			receive := Signature{Function: 4, Site: 1, Return: success, In: []Value{
				number(100), named("MPI_DOUBLE"), named("MPI_ANY_SOURCE"), number(7), named("MPI_COMM_WORLD")},
				Out: []Value{pointer, {Form: Status, List: []Value{stream(0), number(7), number(0), number(0), number(800)}}}}
			ref := StreamRef{terminal(receive), 0, int32(sequences.Index(sources))}
			if ref.Terminal < streams[0].Terminal {
				streams = append([]StreamRef{ref}, streams...)
			} else {
				streams = append(streams, ref)
			}
		}
		t := Thread{Rank: rank, Place: rank, Root: rootRule[k], Calls: uint64(len(terminals)), Streams: streams,
			FirstTick: 5_000_000_000 + int64(rank)*1000}
		if timed {
			for range terminals {
				t.Gaps = append(t.Gaps, 10_000+int64(r.ExpFloat64()*3000))
				t.Durations = append(t.Durations, 700+int64(r.ExpFloat64()*2000))
			}
			t.Gaps[0] = 0
		}
		c.Threads.Append(t)
		c.Ranks.Append(Rank{Rank: rank, Host: "host", Node: "node", BootID: "boot", PID: 100 + rank,
			Executable: "/app/stencil", StartRealtimeNS: 1_700_000_000_000_000_000 + int64(rank)*12345,
			Clock: timing.Clock{Kind: "tsc", Samples: []timing.ClockSample{
				{Ticks: 4_000_000_000, MonotonicNS: 2_000_000_000, RealtimeNS: 1_700_000_001_000_000_000},
				{Ticks: 8_000_000_000, MonotonicNS: 4_000_000_001, RealtimeNS: 1_700_000_003_000_000_001}}},
			CommunicatorsOwn: []uint32{0, 1 + uint32(parity)}})
	}
	for _, values := range sequences.Lists {
		c.Sequences = append(c.Sequences, codec.Sequence{Values: values})
	}
	return c
}
