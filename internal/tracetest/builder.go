package tracetest

import (
	"fmt"
	"sort"
	"testing"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Unit is the length of one unit of time, in nanoseconds.
const Unit = 1_000_000

// A Builder collects the calls of all ranks.
type Builder struct {
	content   trace.Content
	functions map[uint16]bool
	terminals map[string]int32
	sites     map[string]uint32
	ranks     []*Rank
	grid      *timing.Grid // nil: times are kept as they are
}

// New starts a trace of n ranks, all on one node.
func New(n int) *Builder {
	b := &Builder{functions: map[uint16]bool{}, terminals: map[string]int32{}, sites: map[string]uint32{}}
	world := trace.RankList{{Start: 0, Count: n, Stride: 1}}
	b.content.Meta = trace.Meta{World: "test", WorldSize: n, Implementation: "Open MPI", Version: "4.1.4", ABI: "openmpi", CreatedBy: "tracetest", CallSites: "caller", Timing: timing.Settings{Mode: timing.Lossless}}
	b.content.Communicators = []trace.Communicator{{GlobalName: "MPI_COMM_WORLD", Members: world}}
	for i := range n {
		b.ranks = append(b.ranks, &Rank{
			builder: b,
			info:    trace.Rank{Rank: i, Host: "host0", BootID: "boot0", PID: 100 + i, Executable: "test", Clock: timing.Clock{Kind: "monotonic"}, CommunicatorsOwn: []uint32{0}},
		})
	}
	return b
}

// Rank returns the rank to add calls to.
func (b *Builder) Rank(i int) *Rank { return b.ranks[i] }

// Ranks calls f for every rank.
func (b *Builder) Ranks(f func(i int, r *Rank)) *Builder {
	for i, r := range b.ranks {
		f(i, r)
	}
	return b
}

// Meta returns the metadata of the trace, which the caller may change.
func (b *Builder) Meta() *trace.Meta { return &b.content.Meta }

// Lossy rounds the times of all calls within the given percentage, as the recorder does.
func (b *Builder) Lossy(percent int) *Builder {
	grid, err := timing.GridOf(percent)
	if err != nil {
		panic(err)
	}
	b.grid, b.content.Meta.Timing = grid, timing.Settings{Mode: timing.Lossy, ErrorPercent: percent}
	return b
}

// Comm adds a communicator instance with these ranks of MPI_COMM_WORLD. The result is used as a
// Comm argument, and as the NewComm of the creating call of each member.
func (b *Builder) Comm(name string, members ...int) int {
	b.content.Communicators = append(b.content.Communicators, trace.Communicator{GlobalName: name, Members: trace.NewRankList(members)})
	return len(b.content.Communicators) - 1
}

// Communicator returns an instance, for example to set a topology or a remote group.
func (b *Builder) Communicator(i int) *trace.Communicator { return &b.content.Communicators[i] }

// Without omits a rank from the trace, as if its pod had been lost.
func (b *Builder) Without(rank int) *Builder {
	for i, r := range b.ranks {
		if r.info.Rank == rank {
			b.ranks = append(b.ranks[:i:i], b.ranks[i+1:]...)
			break
		}
	}
	b.content.Meta.MissingRanks = trace.NewRankList(append(b.content.Meta.MissingRanks.Ranks(), rank))
	return b
}

// Content returns the trace so far.
func (b *Builder) Content() *trace.Content {
	c := b.content
	for id := range b.functions {
		c.Functions = append(c.Functions, function(id))
	}
	sort.Slice(c.Functions, func(i, j int) bool { return c.Functions[i].ID < c.Functions[j].ID })
	var all []*Rank
	for _, r := range b.ranks {
		c.Ranks.Append(r.info)
		all = append(append(all, r), r.threads...)
	}
	for _, r := range all {
		t := trace.Thread{Rank: r.info.Rank, Thread: r.thread, Root: len(c.Grammar.Rules), Calls: uint64(len(r.terminals))}
		sequence := grammar.NewSequitur()
		for _, terminal := range r.terminals {
			sequence.Append(terminal)
		}
		base := len(c.Grammar.Rules)
		for _, rule := range sequence.Grammar().Rules {
			body := append([]grammar.Symbol(nil), rule...)
			for i, s := range body {
				if s.IsRule() {
					body[i] = grammar.RuleSymbol(base+s.Rule(), s.Count)
				}
			}
			c.Grammar.Rules = append(c.Grammar.Rules, body)
		}
		for terminal, comms := range r.created {
			t.Streams = append(t.Streams, trace.StreamRef{Terminal: terminal, Sequence: int32(len(c.Sequences))})
			c.Sequences = append(c.Sequences, codec.Sequence{Values: comms})
		}
		sort.Slice(t.Streams, func(i, j int) bool { return t.Streams[i].Terminal < t.Streams[j].Terminal })
		last := int64(0)
		for i, at := range r.times {
			if i == 0 {
				t.FirstTick, last = at[0], at[0]
			}
			t.Gaps = append(t.Gaps, at[0]-last)
			t.Durations = append(t.Durations, at[1]-at[0])
			for _, h := range r.holds {
				if h.Call == uint64(i) {
					t.Gaps[i] -= h.Ticks
				}
			}
			last = at[1]
			t.InsideTicks += max(0, at[1]-max(at[0], t.EndTick))
			t.EndTick = max(t.EndTick, at[1])
		}
		t.Overheads = r.holds
		if b.grid != nil {
			b.round(&t)
		}
		c.Threads.Append(t)
	}
	return &c
}

// round rounds the intervals of a thread.
func (b *Builder) round(t *trace.Thread) {
	var rounder timing.Rounder
	for i := range t.Gaps {
		call := []int64{t.Gaps[i], t.Durations[i]}
		rounder.Round(b.grid, call)
		t.Gaps[i], t.Durations[i] = call[0], call[1]
	}
}

// Open writes the trace to memory and opens it.
func (b *Builder) Open(t testing.TB) *trace.Reader {
	t.Helper()
	return Open(t, b.Content())
}

// function returns a function of the MPI standard in the form of traces.
func function(id uint16) trace.Function {
	spec := mpi.ByID(id)
	f := trace.Function{ID: id, Name: spec.Name, Class: string(spec.Class), Return: spec.ReturnType}
	for i := range spec.Params {
		p := &spec.Params[i]
		direction := trace.In
		switch {
		case p.Direction.IsIn() && p.Direction.IsOut():
			direction = trace.InOut
		case p.Direction.IsOut():
			direction = trace.Out
		}
		f.Parameters = append(f.Parameters, trace.Parameter{Name: p.Name, Kind: p.Kind.String(), Direction: direction, List: p.IsArray()})
	}
	return f
}

// site returns the number of a call site "file:line".
func (b *Builder) site(name string) uint32 {
	if name == "" {
		return 0
	}
	if n, ok := b.sites[name]; ok {
		return n
	}
	s := trace.Site{BuildID: "feed", Module: "test", Offset: uint64(0x1000 + len(b.sites)), Function: "main"}
	if _, err := fmt.Sscanf(name, "%d", &s.Line); err == nil {
		s.File = "/src/test.c"
	} else {
		for i := range name {
			if name[i] == ':' {
				s.File = "/src/" + name[:i]
				_, _ = fmt.Sscanf(name[i+1:], "%d", &s.Line)
			}
		}
	}
	b.content.Sites = append(b.content.Sites, s)
	b.sites[name] = uint32(len(b.content.Sites))
	return b.sites[name]
}
