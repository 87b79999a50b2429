package trace_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/seektest"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// windows is a thread of 4 · 6 calls: in each of six rounds two MPI_Isend of a request each, and
// two MPI_Waitany over them. Requests have the ids 0, 1, 2, … in the order in which they are made;
// a completed one is MPI_REQUEST_NULL.
func windows() *trace.Content {
	functions := []trace.Function{
		{ID: 1, Name: "MPI_Isend", Class: "send nonblocking standard", Return: "int", Parameters: []trace.Parameter{
			{Name: "count", Kind: "count", Direction: trace.In}, {Name: "request", Kind: "request", Direction: trace.Out}}},
		{ID: 2, Name: "MPI_Waitany", Class: "waitany", Return: "int", Parameters: []trace.Parameter{
			{Name: "count", Kind: "count", Direction: trace.In}, {Name: "array_of_requests", Kind: "request", Direction: trace.InOut, List: true},
			{Name: "indx", Kind: "index", Direction: trace.Out}}},
	}
	signatures := []trace.Signature{
		{Function: 1, OwnRank: -1, Return: number(0), In: []trace.Value{number(8)}, Out: []trace.Value{value(trace.Stream, 0)}},
		{Function: 2, OwnRank: -1, Return: number(0), In: []trace.Value{number(2), value(trace.ListStream, 0)},
			Out: []trace.Value{value(trace.ListStream, 1), value(trace.Stream, 2)}},
	}
	c := &trace.Content{Functions: functions, Signatures: signatures, Ranks: trace.NewRankTable(trace.Rank{Clock: timing.Clock{Kind: "monotonic"}})}
	c.Sequences = make([]codec.Sequence, 4)
	add := func(k int, values ...int64) { c.Sequences[k].Values = append(c.Sequences[k].Values, values...) }
	for round := range int64(6) {
		a, b := 2*round, 2*round+1
		add(0, a, b)
		// before the first MPI_Waitany of a round both positions are new, before its second one
		// position 0 is NULL
		add(1, 5, 2, 0, a, 1, b)
		add(1, 3, 2, 0, -1)
		// after the first one position 0 is NULL (it was NULL after the last round, too) and 1 is
		// new, then all are NULL
		if round == 0 {
			add(2, 3, 2, 1, b)
		} else {
			add(2, 5, 2, 0, -1, 1, b)
		}
		add(2, 3, 2, 1, -1)
		add(3, 0, 1)
	}
	c.Grammar = grammar.Grammar{Rules: [][]grammar.Symbol{{grammar.RuleSymbol(1, 6)}, {{Value: 0, Count: 2}, {Value: 1, Count: 2}}}}
	c.Threads = trace.NewThreadTable(trace.Thread{Calls: 24, Streams: []trace.StreamRef{
		{Terminal: 0, Number: 0, Sequence: 0}, {Terminal: 1, Number: 0, Sequence: 1}, {Terminal: 1, Number: 1, Sequence: 2},
		{Terminal: 1, Number: 2, Sequence: 3}}})
	return c
}

// A seek to any call of windows of MPI_Isend and MPI_Waitany gives the requests that
// the program had.
func TestSeekToRequests(t *testing.T) {
	r := open(t, bytesOf(t, windows()))
	cursor, err := r.Cursor(0, 0)
	require.NoError(t, err)
	for k := 23; k >= 0; k-- {
		require.True(t, cursor.Seek(uint64(k)))
		require.True(t, cursor.Next(), "call %d: %v", k, cursor.Err())
		a, b := 2*(k/4), 2*(k/4)+1
		want := []string{
			fmt.Sprintf("MPI_Isend(count=8, request=request#%d) = MPI_SUCCESS", a),
			fmt.Sprintf("MPI_Isend(count=8, request=request#%d) = MPI_SUCCESS", b),
			fmt.Sprintf("MPI_Waitany(count=2, array_of_requests=[request#%d, request#%d]→[MPI_REQUEST_NULL, request#%d], indx=0) = MPI_SUCCESS", a, b, b),
			fmt.Sprintf("MPI_Waitany(count=2, array_of_requests=[MPI_REQUEST_NULL, request#%d]→[MPI_REQUEST_NULL, MPI_REQUEST_NULL], indx=1) = MPI_SUCCESS", b),
		}[k%4]
		require.Equal(t, want, cursor.Event().Text(), "call %d", k)
	}
}

// seeksOf reduces the number of seeks if time is short.
func seeksOf(seeks int) int {
	if testing.Short() {
		return max(4, seeks/8)
	}
	return seeks
}

// seekEverywhere compares calls after many seeks on all threads with those of a cursor that goes
// call by call.
func seekEverywhere(t *testing.T, r *trace.Reader, seeks int) {
	t.Helper()
	n, err := seektest.Reader(r, seektest.Options{Seed: 3, Seeks: seeksOf(seeks), After: 9})
	require.NoError(t, err)
	require.NotZero(t, n)
	t.Logf("%d calls compared", n)
}

func TestSeekInGoldenFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.v[35].cairn")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			seekEverywhere(t, open(t, b), 300)
		})
	}
}

func TestSeekInAllPatterns(t *testing.T) {
	for _, name := range simulate.Names() {
		t.Run(name, func(t *testing.T) {
			ranks := 8
			if name == "multipartition" { // a square number
				ranks = 9
			}
			seekEverywhere(t, open(t, file(t, simulate.Config{Pattern: name, Ranks: ranks, Iterations: 25,
				Imbalance: simulate.Imbalance{Noise: 40}})), 60)
		})
	}
}

// Random traces with all forms of values and all ways in which calls depend on earlier ones: see
// randomProgram.
func TestSeekInRandomPrograms(t *testing.T) {
	for seed := range uint64(24) {
		if testing.Short() && seed%5 > 0 {
			continue
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := makeRandomProgram(seed, seed%3 == 1, seed%2 == 0)
			require.NoError(t, c.Validate())
			r := open(t, bytesOf(t, c))
			seeks := 80
			if seed == longProgram {
				seeks = 16
			}
			seekEverywhere(t, r, seeks)
			streamed, err := r.StreamedContent()
			require.NoError(t, err)
			for _, thread := range c.Threads.All() { // from memory; and with the times in the file
				whole, err := r.Cursor(thread.Rank, thread.Thread)
				require.NoError(t, err)
				want := texts(t, whole)
				for _, from := range []*trace.Content{c, streamed} {
					cursor := func() (*trace.Cursor, error) { return from.Cursor(thread.Rank, thread.Thread) }
					_, err := seektest.Thread(cursor, seektest.Options{Seed: seed, Seeks: seeksOf(seeks / 5), After: 9})
					require.NoError(t, err)
					again, err := cursor()
					require.NoError(t, err)
					require.Equal(t, want, texts(t, again))
				}
			}
		})
	}
}

// The random programs have all forms that they are for.
func TestRandomProgramsHaveAllForms(t *testing.T) {
	all := map[string]bool{}
	seeds := uint64(24)
	if testing.Short() {
		seeds = 8
	}
	for seed := range seeds {
		for feature := range trace.FeaturesOf(t, bytesOf(t, makeRandomProgram(seed, false, seed%2 == 0))) {
			all[feature] = true
		}
	}
	for _, form := range []trace.Form{trace.Absent, trace.Null, trace.Int, trace.Name, trace.Handle, trace.List, trace.Status,
		trace.Stream, trace.ListStream, trace.RankOffset, trace.Elastic, trace.Column} {
		require.True(t, all[fmt.Sprintf("form %d", form)], form)
	}
	for _, o := range []trace.Operator{trace.Modulo, trace.Stride, trace.Cases, trace.RelativeStream} {
		require.True(t, all[fmt.Sprintf("operator %d", o)], o)
	}
}

// Several blocks of timing, with tracer overhead and nested calls at their borders.
func TestSeekAcrossBlocks(t *testing.T) {
	const calls = 2*timing.BlockCalls + 500
	c := windows()
	c.Grammar.Rules[0] = []grammar.Symbol{grammar.RuleSymbol(1, 6), {Value: 2, Count: calls - 24}}
	c.Signatures = append(c.Signatures, trace.Signature{Function: 1, OwnRank: -1, In: []trace.Value{number(8)}, Out: []trace.Value{value(trace.Handle, 0)}})
	c.Threads.Change(0, func(th *trace.Thread) {
		th.Calls = calls
		th.Gaps, th.Durations = make([]int64, calls), make([]int64, calls)
		for i := range calls {
			th.Gaps[i], th.Durations[i] = int64(i%7), 10
		}
		th.Gaps[0] = 0
		for _, border := range []int{timing.BlockCalls, 2 * timing.BlockCalls} {
			// the call before the last one of the block lasts until after the next block has begun
			th.Durations[border-2], th.Gaps[border-1], th.Gaps[border] = 5000, -4900, 1000
			th.Overheads = append(th.Overheads, trace.Overhead{Call: uint64(border), Ticks: 70}, trace.Overhead{Call: uint64(border + 3), Ticks: 9})
		}
	})
	r := open(t, bytesOf(t, c))
	seekEverywhere(t, r, 60)
	cursor, err := r.Cursor(0, 0)
	require.NoError(t, err)
	require.True(t, cursor.Seek(timing.BlockCalls-2))
	require.True(t, cursor.Next())
	outer := *cursor.Event()
	for cursor.Next() && cursor.Event().Exit < outer.Exit {
	}
	require.Greater(t, cursor.Event().Index, uint64(timing.BlockCalls), "the outer call lasts beyond the border")
	require.True(t, cursor.SeekTime(outer.Exit-1))
	require.True(t, cursor.Next())
	require.Equal(t, outer.Index, cursor.Event().Index, "the first call that ends after the time")
}

// Blocks of timing begin in the middle of extrapolated intervals, and some have tracer overhead in
// them. A block whose start differs from that of its interval is an error call by call; after a
// seek, which trusts it, the calls would have other times.
func TestSeekAmongExtrapolations(t *testing.T) {
	_, c := trace.AcrossBlocks()
	b := bytesOf(t, c)
	seekEverywhere(t, open(t, b), 24)
	inInterval := 0
	for part := range int64(3) {
		r := open(t, trace.SpoilBlockStart(t, b, 0, part+1))
		cursor, err := r.Cursor(0, 0)
		require.NoError(t, err)
		calls, err := seektest.Linear(cursor, 0)
		if err == nil {
			seekEverywhere(t, r, 10)
			continue
		}
		inInterval++
		require.ErrorContains(t, err, "damaged timing")
		require.EqualValues(t, (part+1)*timing.BlockCalls, len(calls))
	}
	require.NotZero(t, inInterval)
	require.Less(t, inInterval, 3)
}

// The communicator of MPI_COMM_WORLD may change: values relative to the caller's rank follow it,
// however a cursor got there.
func TestSeekAfterWorldIsBoundAnew(t *testing.T) {
	init := trace.Function{ID: 1, Name: "MPI_Init", Class: "init", Return: "int"}
	send := trace.Function{ID: 2, Name: "MPI_Send", Class: "send blocking standard", Return: "int", Parameters: []trace.Parameter{
		{Name: "dest", Kind: "rank", Direction: trace.In}, {Name: "comm", Kind: "comm", Direction: trace.In}}}
	c := &trace.Content{Functions: []trace.Function{init, send}, Signatures: []trace.Signature{
		{Function: 1, OwnRank: -1, Communicator: value(trace.Stream, 0)},
		{Function: 2, OwnRank: -1, In: []trace.Value{value(trace.RankOffset, 1), named("MPI_COMM_WORLD")}}},
		Communicators: []trace.Communicator{{GlobalName: "MPI_COMM_WORLD", Members: trace.RankList{{0, 3, 1}}},
			{GlobalName: "other", Members: trace.RankList{{1, 2, 1}, {0, 1, 1}}}},
		Ranks:     trace.NewRankTable(trace.Rank{CommunicatorsOwn: []uint32{0, 1}, Clock: timing.Clock{Kind: "monotonic"}}),
		Sequences: []codec.Sequence{{Values: []int64{0, 1}}},
	}
	c.Meta.WorldSize = 3
	c.Grammar = grammar.Grammar{Rules: [][]grammar.Symbol{{grammar.RuleSymbol(1, 2)}, {{Value: 0, Count: 1}, {Value: 1, Count: 3}}}}
	c.Threads = trace.NewThreadTable(trace.Thread{Calls: 8, Streams: []trace.StreamRef{{}}})
	r := open(t, bytesOf(t, c))
	cursor, err := r.Cursor(0, 0)
	require.NoError(t, err)
	calls, err := seektest.Linear(cursor, 0)
	require.NoError(t, err)
	for i, want := range []int64{-1, 1, 1, 1, -1, 3, 3, 3} { // rank 0 of the first, 2 of the second
		if want >= 0 {
			require.Equal(t, want, calls[i].In[0].Int, i)
		}
	}
	seekEverywhere(t, r, 200)
}

// A cursor that seeks repeatedly keeps no more memory than after the first time, and none at the
// end.
func TestSeeksGiveMemoryBack(t *testing.T) {
	b := bytesOf(t, makeRandomProgram(5, false, true))
	r := open(t, b)
	for _, thread := range r.Threads().All() { // what all cursors share
		cursor, err := r.Cursor(thread.Rank, thread.Thread)
		require.NoError(t, err)
		for cursor.Next() {
		}
		require.NoError(t, cursor.Err())
	}
	start := trace.MemoryLeft(r)
	cursor, err := r.Cursor(0, 0)
	require.NoError(t, err)
	calls := r.Threads().At(0).Calls
	for k := range uint64(300) {
		require.True(t, cursor.Seek(k*k%calls))
		require.True(t, cursor.Next())
	}
	for cursor.Next() {
	}
	require.NoError(t, cursor.Err())
	require.Equal(t, start, trace.MemoryLeft(r))
}

// FuzzSeek puts bytes into a block of a good file. After a seek a cursor must return the same as
// call by call, up to an error, or fail.
func FuzzSeek(f *testing.F) {
	files := [][]byte{bytesOf(f, windows())}
	for seed := range uint64(4) {
		files = append(files, bytesOf(f, makeRandomProgram(seed, seed%2 == 1, seed%2 == 0)))
	}
	blocks := trace.BlocksToSpoil(f, files...)
	for i, block := range blocks {
		if testing.Short() && i%8 > 0 {
			continue
		}
		f.Add(uint16(i), uint64(i), block.Content)
	}
	f.Fuzz(func(t *testing.T, block uint16, seed uint64, content []byte) {
		b := blocks[int(block)%len(blocks)].With(content)
		r, err := trace.Open(bytes.NewReader(b), int64(len(b)), trace.WithMemoryLimit(trace.FuzzMemory))
		if err != nil {
			return
		}
		for i, thread := range r.Threads().All() {
			if i == 4 || thread.Calls > 100_000 { // lists are gone through
				break
			}
			_, err := seektest.Thread(func() (*trace.Cursor, error) { return r.Cursor(thread.Rank, thread.Thread) },
				seektest.Options{Seed: seed, Seeks: 8, After: 5, Calls: 2000, Damaged: true})
			require.NoError(t, err)
		}
	})
}
