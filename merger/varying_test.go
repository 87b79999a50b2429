package merger

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// waitany is a function of the simulated program that names requests.
var waitany = trace.Function{ID: 9, Name: "MPI_Waitany", Class: "waitany", Return: "int", Parameters: []trace.Parameter{
	{Name: "count", Kind: "count", Direction: trace.In},
	{Name: "array_of_requests", Kind: "request", Direction: trace.InOut, List: true},
	{Name: "index", Kind: "index", Direction: trace.Out},
	{Name: "status", Kind: "status", Direction: trace.Out},
}}

// vary is a rank that sends a different number of elements to its neighbor in every iteration, and
// waits for the requests in an order of its own.
func vary(size, rank, iterations int) *trace.Content { return varyLike(size, rank, rank, iterations) }

// varyLike is such a rank, with the order of another one.
func varyLike(size, rank, like, iterations int) *trace.Content {
	r := record("w", size, rank)
	r.c.Functions = append(r.c.Functions[:len(r.c.Functions):len(r.c.Functions)], waitany)
	random := rand.New(rand.NewSource(int64(like)))
	open := make([]trace.Value, 20)
	for i := range iterations {
		if i%len(open) == 0 {
			for k := range open {
				open[k] = handle(k)
			}
		}
		r.call(trace.Signature{Function: 3, OwnRank: int32(rank), In: []trace.Value{
			{Form: trace.Pointer}, num(8 * i * i), num((rank + 1) % size), name("MPI_COMM_WORLD")}}, 1, 1)
		k := random.Intn(len(open))
		for open[k].Form == trace.Name {
			k = (k + 1) % len(open)
		}
		r.call(trace.Signature{Function: 9, OwnRank: -1,
			In: []trace.Value{num(len(open)), {Form: trace.List, List: append([]trace.Value(nil), open...)}},
			Out: []trace.Value{{}, streamNo(0), {Form: trace.Status, List: []trace.Value{
				streamNo(1), streamNo(2), num(0), num(0), streamNo(3)}}}},
			1, 1, []int64{int64(k)}, []int64{int64((rank + k) % size)}, []int64{7}, []int64{int64(8 * k)})
		open[k] = name("MPI_REQUEST_NULL")
	}
	return r.content()
}

func varyAll(size, iterations int) []*trace.Content {
	inputs := make([]*trace.Content, size)
	for rank := range inputs {
		inputs[rank] = vary(size, rank, iterations)
	}
	return inputs
}

// A parameter that has another value in every iteration is one signature and a sequence of values.
func TestVaryingParametersAreStreams(t *testing.T) {
	const size = 5
	inputs := varyAll(size, 200)
	final := merge(t, true, inputs...)
	require.Len(t, final.Signatures, 2, "one send, one Waitany")
	require.Greater(t, len(inputs[0].Signatures), 300)
	for rank := range size {
		require.Empty(t, cmp.Diff(decode(t, inputs[rank], rank), decode(t, final, rank)))
	}
}

// Which parameters are streams does not depend on the tree of merges, nor do the bytes.
func TestVaryingParametersAreStreamsInAnyTree(t *testing.T) {
	// on some ranks there is too little that varies
	inputs := varyAll(7, 60)
	for rank := range 3 {
		inputs[rank] = vary(7, rank, 10*(rank+1))
	}
	want := merge(t, true, inputs...)
	seeds := int64(20)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		got := mergeTree(t, rand.New(rand.NewSource(seed)), inputs)
		require.Empty(t, cmp.Diff(want, got, cmpopts.EquateEmpty(), listed))
		require.True(t, bytes.Equal(fileOf(t, want), fileOf(t, got)))
	}
}

func fileOf(t testing.TB, c *trace.Content) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, trace.Write(&b, c))
	return b.Bytes()
}

// sizesOf are the sizes of the parts of the file.
func sizesOf(t testing.TB, c *trace.Content) trace.Sizes {
	t.Helper()
	b := fileOf(t, c)
	r, err := trace.Open(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	return r.Sizes()
}

// calls records calls of functions without arguments, through Sequitur.
func loops(rank, size int, call func(do func(function uint16))) *trace.Content {
	r := record("w", size, rank)
	grammar := grammar.NewSequitur()
	call(func(function uint16) {
		r.call(trace.Signature{Function: function, OwnRank: -1}, 0, 0)
		grammar.Append(r.sequence[len(r.sequence)-1])
	})
	c := r.content()
	c.Grammar = grammar.Grammar()
	c.Threads.Change(0, func(t *trace.Thread) { t.Gaps, t.Durations = nil, nil })
	return c
}

// A shard keeps varying values in its signatures, as numbers of each rank and as streams that are
// constant there; the merge of shards makes the same streams of them.
func TestUnfinishedMergesChangeNothing(t *testing.T) {
	seeds := int64(30)
	if testing.Short() {
		seeds = 6
	}
	for seed := range seeds {
		random := rand.New(rand.NewSource(seed))
		inputs := make([]*trace.Content, 6)
		iterations := 40 + random.Intn(100)
		for rank := range inputs { // some do the same, with other neighbors and sources
			inputs[rank] = varyLike(len(inputs), rank, random.Intn(3), iterations)
			if random.Intn(6) == 0 {
				inputs[rank] = vary(len(inputs), rank, 10)
			}
		}
		want := merge(t, true, inputs...)
		var shards []*trace.Content
		for at := 0; at < len(inputs); {
			n := min(1+random.Intn(4), len(inputs)-at)
			m := Merger{Unfinished: true}
			for _, c := range inputs[at : at+n] {
				require.NoError(t, m.Add(c))
			}
			shard, err := m.Finish(Options{})
			require.NoError(t, err)
			require.Len(t, shard, 1)
			shards = append(shards, streamed(t, fileOf(t, shard[0])))
			at += n
		}
		got := merge(t, true, shards...)
		for rank := range inputs {
			require.Empty(t, cmp.Diff(decode(t, inputs[rank], rank), decode(t, got, rank)), "seed %d rank %d", seed, rank)
		}
		require.True(t, bytes.Equal(fileOf(t, want), fileOf(t, got)), "seed %d", seed)
	}
}

// ScalaTrace II, Figure 1: events that only some iterations have.
func TestLoopWithIterationSpecificBehavior(t *testing.T) {
	size := func(iterations int) int64 {
		c := loops(0, 1, func(do func(uint16)) {
			for i := range iterations {
				do(1)
				if i%2 == 0 {
					do(3)
				} else {
					do(4)
				}
				do(2)
			}
		})
		return sizesOf(t, merge(t, true, c)).Grammar
	}
	require.InDelta(t, size(100), size(100000), 8)
}

// ScalaTrace II, Figure 2: the trip count of an inner loop depends on the iteration. It costs only
// the trip counts.
func TestLoopWithVaryingTripCounts(t *testing.T) {
	size := func(steps int, trips func(step int) int) int64 {
		c := loops(0, 1, func(do func(uint16)) {
			for step := range steps {
				do(1)
				for range trips(step) {
					do(3)
					do(4)
					do(6)
				}
			}
		})
		return sizesOf(t, merge(t, true, c)).Grammar
	}
	steps := 1000
	if testing.Short() { // the calls grow with the square
		steps = 300
	}
	require.Less(t, size(steps, func(step int) int { return 3 + step }), int64(100), "n = f(i), affine")
	random := rand.New(rand.NewSource(1))
	require.Less(t, size(1000, func(int) int { return 2 + random.Intn(64) }), int64(2000), "any n: two bytes each")
}

// ScalaTrace II, Figure 4: loops that differ between ranks in what they hold and how often they
// run; and loops that differ in the trip count alone, which share all symbols.
func TestLoopAgnosticMerge(t *testing.T) {
	figure4 := []*trace.Content{
		loops(0, 2, func(do func(uint16)) {
			for range 6 {
				do(3)
				do(4)
			}
			do(6)
		}),
		loops(1, 2, func(do func(uint16)) {
			for range 6 {
				do(3)
				do(4)
				do(6)
			}
		}),
	}
	final := merge(t, true, figure4...)
	require.Len(t, final.Signatures, 3)
	for rank := range 2 {
		require.Empty(t, cmp.Diff(decode(t, figure4[rank], rank), decode(t, final, rank)))
	}

	size := func(ranks int) int64 {
		var inputs []*trace.Content
		for rank := range ranks {
			inputs = append(inputs, loops(rank, ranks, func(do func(uint16)) {
				do(1)
				for range 5 + 3*rank {
					do(3)
					do(4)
					do(6)
				}
				do(2)
			}))
		}
		final := merge(t, true, inputs...)
		for i := range final.Threads.Len() {
			require.Zero(t, final.Threads.At(i).Shape, "rank %d", i)
		}
		require.Empty(t, cmp.Diff(decode(t, inputs[ranks-1], ranks-1), decode(t, final, ranks-1)))
		sizes := sizesOf(t, final)
		return sizes.Grammar + sizes.RankMap
	}
	many := 800
	if testing.Short() { // the calls grow with the square
		many = 200
	}
	require.InDelta(t, size(50), size(many), 16)
}

// Every way of writing a value gives the values of the ranks.
func TestElasticValues(t *testing.T) {
	const size = 24 // 4 x 6
	grid := trace.Topology{Dims: []int{4, 6}, Periodic: []bool{true, true}}
	at := func(r, down, right int) int { return (r/6+4+down)%4*6 + (r%6+6+right)%6 }
	for _, test := range []struct {
		name  string
		value func(r int) trace.Value
		want  string
	}{
		{"constant", func(int) trace.Value { return num(4) }, "{2 4 0  []}"},
		{"offset", func(r int) trace.Value { return num(r + 100) }, "{12 100 0  []}"},
		{"modulo", func(r int) trace.Value { return num((r + size - 1) % size) }, "elastic 1 [-1 24]"},
		{"Cartesian", func(r int) trace.Value { return num(at(r, 1, -1)) }, "elastic 2 [2 4 6 1 -1]"},
		{"row", func(r int) trace.Value { return num(7 + 2*(r/6)) }, "elastic 3 [7 2 6 0]"},
		{"column", func(r int) trace.Value { return num(5 + 2*(r%6)) }, "elastic 3 [5 2 1 6]"},
		{"half a row", func(r int) trace.Value { return num(r / 3 % 2) }, "elastic 3 [0 1 3 2]"},
		{"open end", func(r int) trace.Value {
			if r == size-1 {
				return name("MPI_PROC_NULL")
			}
			return num(r + 1)
		}, "elastic 4 [0 {12 1 0  []} {5 0 0 MPI_PROC_NULL []}]"},
		{"names and anything", func(r int) trace.Value {
			switch r % 5 {
			case 0:
				return name("MPI_PROC_NULL")
			case 1:
				return name("MPI_ANY_SOURCE")
			}
			return num(r * r % 17)
		}, "elastic 4 [0 column"},
		{"anything", func(r int) trace.Value { return num(r * r % 17) }, "column"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var inputs []*trace.Content
			for rank := range size {
				r := record("w", size, rank)
				all := make([]int, size)
				for i := range all {
					all[i] = i
				}
				r.addCommunicator(trace.Communicator{GlobalName: "grid", Members: trace.NewRankList(all), Topology: grid}, rank)
				r.call(trace.Signature{Function: 3, OwnRank: int32(rank), In: []trace.Value{
					{Form: trace.Pointer}, num(8), test.value(rank), name("MPI_COMM_WORLD")}}, 1, 1)
				inputs = append(inputs, r.content())
			}
			final := merge(t, true, inputs...)
			require.Len(t, final.Signatures, 1)
			for rank := range size {
				require.Empty(t, cmp.Diff(decode(t, inputs[rank], rank), decode(t, final, rank)))
			}
			require.Contains(t, describe(final.Signatures[0].In[2]), test.want)
			// shards have columns, and cases for names
			shards := []*trace.Content{merge(t, false, inputs[:size/3]...), merge(t, false, inputs[size/3:]...)}
			require.Equal(t, fileOf(t, final), fileOf(t, merge(t, true, merge(t, false, shards...))))
		})
	}
}

func describe(v trace.Value) string {
	switch v.Form {
	case trace.Elastic:
		var operands []string
		for _, o := range v.List {
			if o.Form == trace.Int {
				operands = append(operands, fmt.Sprint(o.Int))
			} else {
				operands = append(operands, describe(o))
			}
		}
		return fmt.Sprint("elastic ", v.Int, " ", operands)
	case trace.Column:
		return "column"
	}
	return fmt.Sprint(v)
}

// A list that is too long to be compared between ranks keeps its value streams: MPI_Waitall on
// thousands of requests.
func TestLongListsKeepTheirStreams(t *testing.T) {
	const size, statuses = 3, longestList + 1
	waitall := trace.Function{ID: 9, Name: "MPI_Waitall", Return: "int", Parameters: []trace.Parameter{
		{Name: "array_of_statuses", Kind: "status", Direction: trace.Out, List: true},
	}}
	inputs := make([]*trace.Content, size)
	for rank := range size {
		r := record("w", size, rank)
		r.c.Functions = append(r.c.Functions[:len(r.c.Functions):len(r.c.Functions)], waitall)
		list := trace.Value{Form: trace.List, List: make([]trace.Value, statuses)}
		values := make([][]int64, 0, 2*statuses)
		for i := range list.List {
			list.List[i] = trace.Value{Form: trace.Status, List: []trace.Value{
				streamNo(2 * i), streamNo(2*i + 1), num(0), num(0), num(8)}}
			values = append(values, []int64{int64((rank + i) % size)}, []int64{int64(i)})
		}
		r.call(trace.Signature{Function: 9, OwnRank: -1, Out: []trace.Value{list}}, 1, 1, values...)
		inputs[rank] = r.content()
	}
	for _, final := range []bool{false, true} {
		merged := merge(t, final, inputs...)
		for rank := range size {
			require.Empty(t, cmp.Diff(decode(t, inputs[rank], rank), decode(t, merged, rank)))
		}
	}
}

// A stream of any kind of value stays what it is, whether its values are the same in all calls of
// a rank, those of all ranks, or differ from call to call; and no handle becomes a number.
func TestStreamsOfAllKinds(t *testing.T) {
	const size = 5
	functions := slices.Clone(simulated)
	for _, kind := range mpi.Kinds() {
		if kind.IsHandle() || kind == mpi.KindDouble || kind >= mpi.KindInt && kind < mpi.KindDatatype {
			functions = append(functions, trace.Function{ID: 100 + uint16(kind), Name: "MPI_" + kind.String(), Return: "int", Parameters: []trace.Parameter{
				{Name: "equal", Kind: kind.String(), Direction: trace.In}, {Name: "of_rank", Kind: kind.String(), Direction: trace.In},
				{Name: "column", Kind: kind.String(), Direction: trace.InOut}, {Name: "varying", Kind: kind.String(), Direction: trace.Out}}})
		}
	}
	inputs := make([]*trace.Content, size)
	for rank := range inputs {
		r := record("w", size, rank)
		r.c.Functions = functions
		for i := range int64(12) {
			for _, f := range functions[len(simulated):] {
				r.call(trace.Signature{Function: f.ID, OwnRank: -1, In: []trace.Value{streamNo(0), streamNo(1), streamNo(2)}, Out: []trace.Value{streamNo(3), streamNo(4)}},
					1, 1, []int64{3}, []int64{int64(rank + 4)}, []int64{int64(rank * rank % 3)}, []int64{-1}, []int64{i % 5})
			}
		}
		inputs[rank] = r.content()
	}
	for seed := range int64(3) {
		for _, final := range []*trace.Content{merge(t, true, inputs...), mergeTree(t, rand.New(rand.NewSource(seed)), inputs), mergeFiles(t, rand.New(rand.NewSource(seed)), inputs)} {
			for rank := range inputs {
				require.Empty(t, cmp.Diff(decode(t, inputs[rank], rank), decode(t, final, rank)))
			}
			for i := range final.Signatures {
				s := &final.Signatures[i]
				for k, p := range final.Functions[slices.IndexFunc(final.Functions, func(f trace.Function) bool { return f.ID == s.Function })].Parameters[:2] {
					require.False(t, trace.IsHandle(p.Kind) && s.In[k].Form == trace.Int, p.Kind)
					if isSlot(p.Kind) && p.Kind != "double" {
						require.NotEqual(t, trace.Stream, s.In[k].Form, "%s: one value on each thread needs no stream", p.Kind)
					}
				}
			}
		}
	}
}

// Ranks that receive in one order from neighbors at the same distances share a stream of distances,
// next to a stream of sizes that ranks have in common with only some others. A rank with one
// neighbor alone is in the same shape.
func TestStreamsRelativeToTheRank(t *testing.T) {
	const size, receives = 12, 30
	inputs := make([]*trace.Content, size)
	for rank := range inputs {
		r := record("w", size, rank)
		for i := range int64(receives) {
			source := int64(rank) + 1 + i*i%3
			if rank == size-1 {
				source = 0
			}
			status := trace.Value{Form: trace.Status, List: []trace.Value{streamNo(0), num(5), num(0), num(0), streamNo(1)}}
			r.call(trace.Signature{Function: 4, OwnRank: int32(rank), In: []trace.Value{num(9), name("MPI_ANY_SOURCE"), name("MPI_COMM_WORLD")}, Out: []trace.Value{status}},
				1, 1, []int64{source}, []int64{i * i % int64(5+rank/4)})
		}
		inputs[rank] = r.content()
	}
	final := merge(t, true, inputs...)
	require.Len(t, final.Signatures, 1)
	source := final.Signatures[0].Out[0].List[0]
	require.Equal(t, trace.Elastic, source.Form)
	require.Equal(t, trace.RelativeStream, trace.Operator(source.Int))
	require.Len(t, final.Sequences, 2+3, "two of distances, three of sizes")
	for rank := range inputs {
		require.Empty(t, cmp.Diff(decode(t, inputs[rank], rank), decode(t, final, rank)))
	}
	for seed := range int64(2) {
		require.Equal(t, fileOf(t, final), fileOf(t, mergeFiles(t, rand.New(rand.NewSource(seed)), inputs)))
	}
}

// TestAggregatedTimesOfVaryingParameters: the statistics of signatures that become
// one are added up.
func TestAggregatedTimesOfVaryingParameters(t *testing.T) {
	inputs := varyAll(3, 200)
	for _, c := range inputs {
		c.Meta.Timing.Mode = timing.Aggregated
		c.Threads.Change(0, func(th *trace.Thread) {
			counts := map[int32]int64{}
			for terminal := range c.Grammar.All(th.Root) {
				counts[terminal]++
			}
			for terminal := range int32(len(c.Signatures)) {
				a := timing.Aggregate{Terminal: terminal}
				for range counts[terminal] {
					a.Gaps.Add(5)
					a.Durations.Add(int64(terminal) + 1)
				}
				th.Aggregates = append(th.Aggregates, a)
			}
			th.Gaps, th.Durations = nil, nil
		})
	}
	final := merge(t, true, inputs...)
	require.Len(t, final.Signatures, 2)
	for i, th := range final.Threads.All() {
		var want, got timing.IntervalStatistics
		for _, a := range inputs[i].Threads.At(0).Aggregates {
			want.Merge(&a.Durations)
		}
		for _, a := range th.Aggregates {
			got.Merge(&a.Durations)
		}
		require.Equal(t, th.Calls, got.Count)
		require.Equal(t, want.Sum, got.Sum)
	}
}
