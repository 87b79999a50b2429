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

// stencil makes the trace of a job of ranks on a ring (not periodic: the ends have
// MPI_PROC_NULL) that exchange with both neighbors and reduce every tenth step; half of the
// steps on a communicator of the even and the odd ranks. Rank 0 has the wildcard: its received
// sources come from a stream.
func stencil(ranks, steps int, timed bool) *Content {
	s := stencilTrace{
		Content: &Content{
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
		},
		random:    rand.New(rand.NewPCG(5, 5)),
		terminals: map[string]int32{},
		sequences: codec.NewListTable(),
		programs:  codec.NewListTable(),
	}
	for rank := range ranks {
		s.rank(rank, ranks, steps, timed)
	}
	for _, values := range s.sequences.Lists {
		s.Sequences = append(s.Sequences, codec.Sequence{Values: values})
	}
	return s.Content
}

// A stencilTrace is a trace of stencil that is being made, one rank after the other.
type stencilTrace struct {
	*Content
	random    *rand.Rand
	terminals map[string]int32 // by encoded signature
	sequences *codec.ListTable
	programs  *codec.ListTable // sequences of terminals: ranks with the same one share their rules
	roots     []int            // the first rule of each program
}

var (
	success     = number(0)
	pointer     = Value{Form: Pointer}
	splitHandle = Value{Form: Handle, Int: 0}
)

func stencilSplit() Signature {
	return Signature{Function: 5, Return: success, Communicator: stream(0),
		In: []Value{named("MPI_COMM_WORLD"), stream(1), number(0)}, Out: []Value{splitHandle}}
}

func stencilReceive(source, statusSource Value) Signature {
	status := Value{Form: Status, List: []Value{statusSource, number(7), number(0), number(0), number(800)}}
	return Signature{Function: 4, Site: 1, Return: success, In: []Value{
		number(100), named("MPI_DOUBLE"), source, number(7), named("MPI_COMM_WORLD")},
		Out: []Value{pointer, status}}
}

func (s *stencilTrace) terminal(signature Signature) int32 {
	signature.OwnRank = -1
	key := string(AppendSignature(nil, &signature))
	terminal, known := s.terminals[key]
	if !known {
		terminal = int32(len(s.Signatures))
		s.terminals[key] = terminal
		s.Signatures = append(s.Signatures, signature)
	}
	return terminal
}

// rank adds a rank and its only thread.
func (s *stencilTrace) rank(rank, ranks, steps int, timed bool) {
	terminals, sources := s.calls(rank, ranks, steps)
	parity := int64(rank % 2)
	t := Thread{Rank: rank, InShape: rank, Root: s.root(terminals), Calls: uint64(len(terminals)), Streams: s.streams(parity, sources),
		FirstTick: 5_000_000_000 + int64(rank)*1000}
	if timed {
		for range terminals {
			t.Gaps = append(t.Gaps, 10_000+int64(s.random.ExpFloat64()*3000))
			t.Durations = append(t.Durations, 700+int64(s.random.ExpFloat64()*2000))
		}
		t.Gaps[0] = 0
	}
	s.Threads.Append(t)
	s.Ranks.Append(Rank{Rank: rank, Host: "host", Node: "node", BootID: "boot", PID: 100 + rank,
		Executable: "/app/stencil", StartRealtimeNS: 1_700_000_000_000_000_000 + int64(rank)*12345,
		Clock: timing.Clock{Kind: "tsc", Samples: []timing.ClockSample{
			{Ticks: 4_000_000_000, MonotonicNS: 2_000_000_000, RealtimeNS: 1_700_000_001_000_000_000},
			{Ticks: 8_000_000_000, MonotonicNS: 4_000_000_001, RealtimeNS: 1_700_000_003_000_000_001}}},
		CommunicatorsOwn: []uint32{0, 1 + uint32(parity)}})
}

// calls returns the terminals of a rank's calls, and the values of rank 0's stream of sources.
func (s *stencilTrace) calls(rank, ranks, steps int) (terminals, sources []int64) {
	add := func(signature Signature) { terminals = append(terminals, int64(s.terminal(signature))) }
	add(Signature{Function: 1, Return: success})
	for step := range steps {
		if step == steps/2 {
			add(stencilSplit())
		}
		for _, offset := range []int{-1, 1} {
			peer, statusSource := Value{Form: RankOffset, Int: int64(offset)}, Value{Form: RankOffset, Int: int64(offset)}
			if p := rank + offset; p < 0 || p >= ranks {
				peer, statusSource = named("MPI_PROC_NULL"), number(-2)
			}
			add(Signature{Function: 3, Site: 1, Return: success, In: []Value{
				pointer, number(100), named("MPI_DOUBLE"), peer, number(7), named("MPI_COMM_WORLD")}})
			if rank == 0 && offset == 1 {
				peer, statusSource = named("MPI_ANY_SOURCE"), stream(0)
				sources = append(sources, int64(1+s.random.IntN(max(ranks-1, 1))))
			}
			add(stencilReceive(peer, statusSource))
		}
		if step%10 == 9 {
			comm := named("MPI_COMM_WORLD")
			if step >= steps/2 {
				comm = splitHandle
			}
			add(Signature{Function: 6, Site: 2, Return: success, In: []Value{
				pointer, number(1), named("MPI_DOUBLE"), named("MPI_SUM"), comm}, Out: []Value{pointer}})
		}
	}
	add(Signature{Function: 2, Return: success})
	return terminals, sources
}

// root returns the first rule of a program's grammar; a new program's rules are added.
func (s *stencilTrace) root(terminals []int64) int {
	k := s.programs.Index(terminals)
	if k < len(s.roots) {
		return s.roots[k]
	}
	sequitur := grammar.NewSequitur()
	for _, t := range terminals {
		sequitur.Append(int32(t))
	}
	first := len(s.Grammar.Rules)
	s.roots = append(s.roots, first)
	for _, body := range sequitur.Grammar().Rules {
		shifted := make([]grammar.Symbol, len(body))
		for i, symbol := range body {
			if symbol.IsRule() {
				symbol = grammar.RuleSymbol(symbol.Rule()+first, symbol.Count)
			}
			shifted[i] = symbol
		}
		s.Grammar.Rules = append(s.Grammar.Rules, shifted)
	}
	return first
}

// streams returns the streams of a thread, in the order of their terminals.
func (s *stencilTrace) streams(parity int64, sources []int64) []StreamRef {
	split := s.terminal(stencilSplit())
	streams := []StreamRef{
		{split, 0, int32(s.sequences.Index([]int64{1}))},
		{split, 1, int32(s.sequences.Index([]int64{parity}))},
	}
	if len(sources) == 0 {
		return streams
	}
	receive := StreamRef{s.terminal(stencilReceive(named("MPI_ANY_SOURCE"), stream(0))), 0, int32(s.sequences.Index(sources))}
	if receive.Terminal < split {
		return append([]StreamRef{receive}, streams...)
	}
	return append(streams, receive)
}
