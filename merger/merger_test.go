package merger

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func merge(t *testing.T, final bool, inputs ...*trace.Content) *trace.Content {
	t.Helper()
	c, err := Merge(inputs, Options{Final: final, CreatedBy: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// mergeTree merges in random order through a random tree of shards.
func mergeTree(t *testing.T, random *rand.Rand, inputs []*trace.Content) *trace.Content {
	t.Helper()
	return mergeLevels(t, random, inputs, func(c *trace.Content) *trace.Content { return c })
}

// mergeFiles does so with shards that are files, as the steps of a job leave them.
func mergeFiles(t *testing.T, random *rand.Rand, inputs []*trace.Content) *trace.Content {
	t.Helper()
	return mergeLevels(t, random, inputs, func(c *trace.Content) *trace.Content { return streamed(t, fileOf(t, c)) })
}

func mergeLevels(t *testing.T, random *rand.Rand, inputs []*trace.Content, keep func(*trace.Content) *trace.Content) *trace.Content {
	t.Helper()
	level := slices.Clone(inputs)
	for len(level) > 1 && random.Intn(4) > 0 {
		random.Shuffle(len(level), func(i, j int) { level[i], level[j] = level[j], level[i] })
		fanIn := 2 + random.Intn(4)
		var next []*trace.Content
		for part := range slices.Chunk(level, fanIn) {
			next = append(next, keep(merge(t, false, part...)))
		}
		level = next
	}
	random.Shuffle(len(level), func(i, j int) { level[i], level[j] = level[j], level[i] })
	return merge(t, true, level...)
}

// streamed reads a file without the times of its calls.
func streamed(t *testing.T, file []byte) *trace.Content {
	t.Helper()
	r, err := trace.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.StreamedContent()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEveryCallIsTheSameAfterTheMerge(t *testing.T) {
	for _, size := range []int{1, 2, 3, 8, 13} {
		inputs := simulate("w", size, 10, 1)
		shard := merge(t, false, inputs...)
		final := merge(t, true, inputs...)
		for rank := range size {
			want := decode(t, inputs[rank], rank)
			if diff := cmp.Diff(want, decode(t, shard, rank)); diff != "" {
				t.Fatalf("%d ranks, rank %d in the shard:\n%s", size, rank, diff)
			}
			if diff := cmp.Diff(want, decode(t, final, rank)); diff != "" {
				t.Fatalf("%d ranks, rank %d in the final trace:\n%s", size, rank, diff)
			}
		}
		for _, s := range final.Signatures {
			if s.OwnRank != -1 {
				t.Fatalf("a final trace keeps own rank %d", s.OwnRank)
			}
		}
	}
}

// Any order and any tree, with shards written and read in between, gives the same file.
func TestOrderAndTreeDoNotMatter(t *testing.T) {
	inputs := simulate("w", 11, 7, 2)
	want := merge(t, true, inputs...)
	file := fileOf(t, want)
	trees := int64(200)
	if testing.Short() {
		trees = 20
	}
	for seed := range trees {
		if seed < 20 { // in memory, too, where a difference is readable
			got := mergeTree(t, rand.New(rand.NewSource(seed)), inputs)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), listed); diff != "" {
				t.Fatalf("seed %d:\n%s", seed, diff)
			}
		}
		if !bytes.Equal(file, fileOf(t, mergeFiles(t, rand.New(rand.NewSource(seed)), inputs))) {
			t.Fatalf("seed %d: other bytes", seed)
		}
	}
}

func TestEqualRanksShareOneRoot(t *testing.T) {
	// a ring: all ranks do the same relative to their own rank
	var inputs []*trace.Content
	const size = 16
	for rank := range size {
		r := record("w", size, rank)
		r.call(trace.Signature{Function: 1, OwnRank: -1}, 0, 1)
		for range 50 {
			r.call(trace.Signature{Function: 3, OwnRank: int32(rank), In: []trace.Value{{Form: trace.Pointer}, num(8), num(min(rank+1, size)), name("MPI_COMM_WORLD")}}, 1, 1)
		}
		r.call(trace.Signature{Function: 2, OwnRank: -1}, 0, 1)
		inputs = append(inputs, r.content())
	}
	c := merge(t, true, inputs...)
	for _, th := range c.Threads.All() {
		if th.Root != 0 {
			t.Fatalf("rank %d has root %d", th.Rank, th.Root)
		}
	}
	if len(c.Signatures) != 3 {
		t.Errorf("%d signatures, want 3", len(c.Signatures))
	}
	if len(c.Sites) != 1 || c.Sites[0].Function != "main" {
		t.Errorf("sites %v", c.Sites)
	}
}

func TestMasterStaysConstant(t *testing.T) {
	var inputs []*trace.Content
	for rank := range 5 {
		r := record("w", 5, rank)
		r.call(trace.Signature{Function: 3, OwnRank: int32(rank), In: []trace.Value{{Form: trace.Pointer}, num(8), num(0), name("MPI_COMM_WORLD")}}, 1, 1)
		inputs = append(inputs, r.content())
	}
	c := merge(t, true, inputs...)
	if len(c.Signatures) != 1 || c.Signatures[0].In[2].Form != trace.Int || c.Signatures[0].In[2].Int != 0 {
		t.Errorf("signatures %v", c.Signatures)
	}
}

func TestMissingRanksAreNamed(t *testing.T) {
	inputs := simulate("w", 8, 2, 3)
	c := merge(t, true, inputs[0], inputs[1], inputs[5])
	if got := c.Meta.MissingRanks.String(); got != "2-4,6-7" {
		t.Errorf("missing ranks %s", got)
	}
}

func TestAnotherWorldIsRefused(t *testing.T) {
	var m Merger
	if err := m.Add(simulate("a", 2, 1, 1)[0]); err != nil {
		t.Fatal(err)
	}
	if err := m.Add(simulate("b", 2, 1, 1)[1]); err == nil || !strings.Contains(err.Error(), "another MPI world") {
		t.Errorf("error %v", err)
	}
}

func TestRepeatedUploadCountsOnce(t *testing.T) {
	inputs := simulate("w", 4, 3, 4)
	again := simulate("w", 4, 3, 4)
	shard := merge(t, false, inputs[1], inputs[2])
	want := merge(t, true, inputs...)
	got := merge(t, true, append([]*trace.Content{shard, again[2], again[0]}, inputs...)...)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), listed); diff != "" {
		t.Error(diff)
	}
}

func TestTheLongerVersionOfARankWins(t *testing.T) {
	full := simulate("w", 2, 9, 5)
	partial := simulate("w", 2, 4, 5)
	partial[1].Ranks.Change(0, func(r *trace.Rank) { r.EndedEarly = "running" })
	want := merge(t, true, full...)
	for _, inputs := range [][]*trace.Content{{partial[1], full[0], full[1]}, {full[1], full[0], partial[1]}} {
		if diff := cmp.Diff(want, merge(t, true, inputs...), cmpopts.EquateEmpty(), listed); diff != "" {
			t.Error(diff)
		}
	}
}

// Of two recoveries of one rank the one with the later last sample of the clock is kept, in any
// order of arrival, also if that is the only sample.
func TestTheLaterClockOfARankWins(t *testing.T) {
	samples := func(ticks ...int64) (list []timing.ClockSample) {
		for _, n := range ticks {
			list = append(list, timing.ClockSample{Ticks: n, MonotonicNS: n, RealtimeNS: n})
		}
		return list
	}
	for _, c := range []struct{ earlier, later []timing.ClockSample }{
		{samples(5), samples(7)}, {samples(0, 5), samples(0, 7)}, {samples(0, 5), samples(7)}, {samples(5), samples(0, 7)},
		{nil, samples(7)}, {samples(5), samples(0, 5)},
		{[]timing.ClockSample{{Ticks: 5, MonotonicNS: 5, RealtimeNS: 9}}, []timing.ClockSample{{Ticks: 5, MonotonicNS: 6, RealtimeNS: 6}}},
		{[]timing.ClockSample{{Ticks: 5, MonotonicNS: 5, RealtimeNS: 6}}, []timing.ClockSample{{Ticks: 5, MonotonicNS: 5, RealtimeNS: 9}}},
	} {
		version := func(samples []timing.ClockSample) *trace.Content {
			rank := simulate("w", 1, 2, 5)[0]
			rank.Ranks.Change(0, func(r *trace.Rank) { r.Clock.Samples = samples })
			return rank
		}
		for _, inputs := range [][]*trace.Content{{version(c.earlier), version(c.later)}, {version(c.later), version(c.earlier)}} {
			got := merge(t, false, inputs...).Ranks.At(0)
			if diff := cmp.Diff(c.later, got.Clock.Samples); diff != "" {
				t.Error(diff)
			}
		}
	}
}

func TestAWorldThatWasStartedAgain(t *testing.T) {
	first, second := simulate("w", 4, 3, 6), simulate("w", 4, 5, 7)
	for i := range second {
		second[i].Ranks.Change(0, func(r *trace.Rank) { r.StartRealtimeNS += 1_000_000 })
	}
	// rank 3 of the first start is lost
	inputs := append(slices.Clone(first[:3]), second...)
	for seed := range int64(20) {
		rand.New(rand.NewSource(seed)).Shuffle(len(inputs), func(i, j int) { inputs[i], inputs[j] = inputs[j], inputs[i] })
		var m Merger
		for _, c := range inputs {
			if err := m.Add(c); err != nil {
				t.Fatal(err)
			}
		}
		runs, err := m.Finish(Options{Final: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(runs) != 2 || runs[0].Ranks.Len() != 3 || runs[1].Ranks.Len() != 4 || runs[0].Meta.MissingRanks.String() != "3" {
			t.Fatalf("%d runs", len(runs))
		}
	}
	if _, err := Merge(inputs, Options{Final: true}); !errors.Is(err, ErrRepeatedRank) {
		t.Errorf("error %v", err)
	}
}

func TestFinishedTracesAreRefused(t *testing.T) {
	c := merge(t, true, simulate("w", 2, 1, 1)...)
	if _, err := Merge([]*trace.Content{c}, Options{}); err == nil {
		t.Error("no error")
	}
}

func TestDamagedContentIsAnError(t *testing.T) {
	damage := map[string]func(c *trace.Content){
		"site":         func(c *trace.Content) { c.Signatures[1].Site = 9 },
		"function":     func(c *trace.Content) { c.Signatures[0].Function = 99 },
		"rule cycle":   func(c *trace.Content) { c.Grammar.Rules[1][0] = grammar.RuleSymbol(0, 1) },
		"rule beyond":  func(c *trace.Content) { c.Grammar.Rules[0][0] = grammar.RuleSymbol(1000, 1) },
		"terminal":     func(c *trace.Content) { c.Grammar.Rules[1][0] = grammar.Symbol{Value: 1000, Count: 1} },
		"root":         func(c *trace.Content) { c.Threads.Change(0, func(t *trace.Thread) { t.Root = 1000 }) },
		"sequence":     func(c *trace.Content) { c.Threads.At(0).Streams[0].Sequence = 1000 },
		"communicator": func(c *trace.Content) { c.Ranks.At(0).CommunicatorsOwn[0] = 1000 },
		"rank":         func(c *trace.Content) { c.Threads.Change(0, func(t *trace.Thread) { t.Rank = 7 }) },
		"twice":        func(c *trace.Content) { c.Ranks.Append(c.Ranks.At(0)) },
	}
	for what, do := range damage {
		inputs := simulate("w", 3, 4, 8)
		do(inputs[1])
		var m Merger
		if err := m.Add(inputs[0]); err != nil {
			t.Fatal(err)
		}
		if err := m.Add(inputs[1]); err == nil {
			t.Errorf("%s: no error", what)
		}
		if err := m.Add(inputs[2]); err != nil {
			t.Errorf("%s: the next trace is refused: %v", what, err)
		}
		runs, err := m.Finish(Options{Final: true})
		if err != nil || len(runs) != 1 || runs[0].Meta.MissingRanks.String() != "1" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A shard without a value for one of its ranks is an error, wherever the value is missing, and
// leaves no trace in the merger.
func TestDamagedColumnsAreErrors(t *testing.T) {
	const size = 7
	var inputs []*trace.Content
	for rank := range size {
		r := record("w", size, rank)
		dest := []trace.Value{num(rank * rank % 5), name("MPI_PROC_NULL"), name("MPI_ANY_SOURCE")}[rank%3] // a number at last
		r.call(trace.Signature{Function: 3, OwnRank: int32(rank), In: []trace.Value{{Form: trace.Pointer}, num(7 - rank*rank%6), dest, name("MPI_COMM_WORLD")}}, 1, 1)
		for i := range int64(3) {
			status := trace.Value{Form: trace.Status, List: []trace.Value{streamNo(0), num(5), num(0), num(0), streamNo(1)}}
			r.call(trace.Signature{Function: 4, OwnRank: -1, In: []trace.Value{num(9), name("MPI_ANY_SOURCE"), name("MPI_COMM_WORLD")}, Out: []trace.Value{status}},
				1, 1, []int64{int64(rank * rank % 4)}, []int64{i * i})
		}
		inputs = append(inputs, r.content())
	}
	shard := func() *trace.Content { return merge(t, false, inputs...) }
	want := fileOf(t, merge(t, true, inputs...))
	if got := fileOf(t, merge(t, true, shard())); !bytes.Equal(want, got) {
		t.Fatal("the shard is not what it should be without damage")
	}
	damage := map[string]func(c *trace.Content){"fewer columns": func(c *trace.Content) { c.Columns = c.Columns[:len(c.Columns)-1] }}
	cases := 0
	for k := range shard().Columns {
		damage[fmt.Sprintf("column %d is short", k)] = func(c *trace.Content) {
			c.Columns[k] = codec.NewNumbers(c.Columns[k].Values(nil)[:size-1]...)
		}
	}
	for _, s := range shard().Signatures {
		for _, v := range s.In {
			if v.Form == trace.Elastic && trace.Operator(v.Int) == trace.Cases {
				cases++
				for what, which := range map[string]int64{"beyond the cases": int64(len(v.List) - 1), "before the cases": -1} {
					damage[what] = func(c *trace.Content) {
						values := c.Columns[v.List[0].Int].Values(nil)
						values[size-1] = which
						c.Columns[v.List[0].Int] = codec.NewNumbers(values...)
					}
				}
			}
		}
	}
	if n := len(shard().Columns); n < 5 || cases != 1 {
		t.Fatalf("%d columns, %d slots with cases: too little to damage", n, cases)
	}
	for what, do := range damage {
		t.Run(what, func(t *testing.T) {
			var m Merger
			c := shard()
			do(c)
			if err := m.Add(c); err == nil {
				t.Error("no error")
			}
			if err := m.Add(shard()); err != nil {
				t.Fatal(err)
			}
			runs, err := m.Finish(Options{Final: true, CreatedBy: "test"})
			if err != nil || len(runs) != 1 || !bytes.Equal(want, fileOf(t, runs[0])) {
				t.Errorf("the next trace is not what it is alone: %v", err)
			}
		})
	}
}

func TestConflictingMembersAreNoted(t *testing.T) {
	inputs := simulate("w", 2, 1, 1)
	inputs[1].Communicators[0].Members = trace.NewRankList([]int{1, 0})
	c := merge(t, true, inputs...)
	if len(c.Meta.Notes) != 1 || !strings.Contains(c.Meta.Notes[0], "MPI_COMM_WORLD") {
		t.Errorf("notes %q", c.Meta.Notes)
	}
	if len(c.Communicators) != 5 {
		t.Errorf("%d communicators", len(c.Communicators))
	}
}

func TestThreadsWithHandlesKeepConstants(t *testing.T) {
	// a communicator is created on thread 0 and used on thread 1
	var inputs []*trace.Content
	const size = 4
	for rank := range size {
		r := record("w", size, rank)
		id := r.addCommunicator(trace.Communicator{GlobalName: "c", Members: trace.NewRankList([]int{0, 1, 2, 3})}, rank)
		r.call(trace.Signature{Function: 5, OwnRank: int32(rank), In: []trace.Value{name("MPI_COMM_WORLD")}, Out: []trace.Value{handle(0)}, Communicator: streamNo(0)}, 0, 1, []int64{int64(id)})
		c := r.content()
		send := trace.Signature{Function: 3, OwnRank: int32(rank), In: []trace.Value{{Form: trace.Pointer}, num(8), num((rank + 1) % size), handle(0)}}
		c.Signatures = append(c.Signatures, send)
		c.Grammar.Rules = append(c.Grammar.Rules, []grammar.Symbol{{Value: int32(len(c.Signatures) - 1), Count: 3}})
		c.Threads.Append(trace.Thread{Rank: rank, Thread: 1, Root: len(c.Grammar.Rules) - 1, Calls: 3, Gaps: make([]int64, 3), Durations: make([]int64, 3)})
		inputs = append(inputs, c)
	}
	final := merge(t, true, inputs...)
	for rank := range size {
		// the caller of a call on an unknown handle is only in the signature of single ranks
		strip := func(calls []string) []string {
			for i := range calls {
				calls[i] = strings.ReplaceAll(calls[i], fmt.Sprintf("on none as %d", rank), "on none as -1")
			}
			return calls
		}
		if diff := cmp.Diff(strip(decode(t, inputs[rank], rank)), strip(decode(t, final, rank))); diff != "" {
			t.Errorf("rank %d:\n%s", rank, diff)
		}
	}
}

func TestPeersInListsAndSitesThatDiffer(t *testing.T) {
	functions := append(slices.Clone(simulated), trace.Function{ID: 8, Name: "MPI_Dist_graph_create_adjacent", Class: "comm-create collective", Parameters: []trace.Parameter{
		{Name: "comm_old", Kind: "comm", Direction: trace.In},
		{Name: "sources", Kind: "rank", Direction: trace.In, List: true},
	}})
	var inputs []*trace.Content
	const size = 8
	for rank := range size {
		r := record("w", size, rank)
		r.c.Functions = functions
		r.call(trace.Signature{Function: 8, OwnRank: int32(rank), In: []trace.Value{name("MPI_COMM_WORLD"),
			{Form: trace.List, List: []trace.Value{num(rank - 1), num(rank + 1)}}}}, 0, 1)
		inputs = append(inputs, r.content())
	}
	c := merge(t, true, inputs...)
	if len(c.Signatures) != 1 {
		t.Errorf("%d signatures: %v", len(c.Signatures), c.Signatures)
	}
	for rank := range size {
		if diff := cmp.Diff(decode(t, inputs[rank], rank), decode(t, c, rank)); diff != "" {
			t.Errorf("rank %d:\n%s", rank, diff)
		}
	}
}

func TestMetaConflictsAreNoted(t *testing.T) {
	inputs := simulate("w", 3, 1, 1)
	inputs[1].Meta.Version = "4.1.5"
	inputs[2].Meta.WorldSize = 2
	c := merge(t, true, inputs...)
	want := []string{
		"ranks disagree on the size of the world; the largest counts",
		"ranks disagree on the version of MPI",
	}
	if diff := cmp.Diff(want, c.Meta.Notes); diff != "" {
		t.Error(diff)
	}
	if c.Meta.WorldSize != 3 || c.Meta.Version != "4.1.4" {
		t.Errorf("%+v", c.Meta)
	}
}
