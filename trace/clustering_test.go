package trace

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

// clustered is stencil with votes: three markers a third of the calls apart. Half of the gaps at
// markers is overhead of the vote. Between the last two, the times of all ranks with as many calls
// as rank 1 are extrapolated from rank 1.
func clustered(ranks, steps int) *Content {
	c := stencil(ranks, steps, true)
	c.Meta.Clustering = &Clustering{Votes: []Vote{
		{Ordinal: 64, State: VoteAll}, {Ordinal: 128, State: VoteClustered, Leads: []int{1}}, {Explicit: true, Ordinal: 5, State: VoteLead},
	}}
	threads := c.Threads.List()
	for i := range threads {
		t := &threads[i]
		t.CallsAtVotes = []uint64{t.Calls / 4, t.Calls / 2, 3 * t.Calls / 4}
		for _, m := range t.CallsAtVotes {
			if held := t.Gaps[m] / 2; held > 0 {
				t.Gaps[m] -= held
				t.Overheads = append(t.Overheads, Overhead{m, held})
			}
		}
		if t.Rank != 1 && t.Calls == threads[1].Calls {
			standFor(t, 2, 1)
		}
	}
	c.Threads = NewThreadTable(threads...)
	return c
}

// standFor removes the times of an interval, which are to be extrapolated from lead.
func standFor(t *Thread, vote, lead int) {
	s := Extrapolation{Vote: vote, Lead: lead}
	from, to, _ := t.interval(vote)
	for k := from; k < to; k++ {
		s.Gap += t.Gaps[k]
		s.Duration += t.Durations[k]
		t.Gaps[k], t.Durations[k] = 0, 0
	}
	t.Extrapolations = append(t.Extrapolations, s)
}

// moments returns the ticks of all calls of a thread, and whose times they are.
func moments(t testing.TB, c *Cursor) (ticks []int64, of []int) {
	for c.Next() {
		e := c.Event()
		ticks = append(ticks, e.EnterTicks, e.ExitTicks)
		of = append(of, e.TimesOf)
	}
	require.NoError(t, c.Err())
	return ticks, of
}

// The calls of an interval whose times are extrapolated have the lead's times, scaled; later calls
// keep their times.
func TestExtrapolation(t *testing.T) {
	full, c := stencil(6, 40, true), clustered(6, 40)
	r := opened(t, written(t, c))
	require.Empty(t, cmp.Diff(c.Meta.Clustering, r.Meta().Clustering))
	stood := 0
	for _, thread := range c.Threads.All() {
		own, err := full.Cursor(thread.Rank, 0)
		require.NoError(t, err)
		want, _ := moments(t, own)
		for name, open := range map[string]func() (*Cursor, error){
			"file":   func() (*Cursor, error) { return r.Cursor(thread.Rank, 0) },
			"memory": func() (*Cursor, error) { return c.Cursor(thread.Rank, 0) },
		} {
			cursor, err := open()
			require.NoError(t, err)
			got, of := moments(t, cursor)
			from, to, _ := thread.interval(2)
			for k := range of {
				inside := uint64(k) >= from && uint64(k) < to && len(thread.Extrapolations) > 0
				if !inside {
					require.Equal(t, want[2*k:2*k+2], got[2*k:2*k+2], "%s: rank %d call %d", name, thread.Rank, k)
					require.Equal(t, thread.Rank, of[k])
					continue
				}
				stood++
				require.Equal(t, 1, of[k])
			}
			if len(thread.Extrapolations) > 0 {
				lead := c.Threads.At(1)
				s := thread.Extrapolations[0]
				var g, d, gaps, durations int64
				for k := from; k < to; k++ {
					gaps += lead.Gaps[k]
					durations += lead.Durations[k]
				}
				held := overheads(thread.Overheads)
				at := held.before(from)
				if from > 0 {
					at += want[2*from-1]
				}
				for k := from; k < to; k++ {
					g += lead.Gaps[k]
					enter := at + g*s.Gap/gaps + d*s.Duration/durations
					d += lead.Durations[k]
					exit := at + g*s.Gap/gaps + d*s.Duration/durations
					require.Equal(t, []int64{enter, exit}, got[2*k:2*k+2], "%s: rank %d call %d", name, thread.Rank, k)
				}
				require.Equal(t, want[2*to-1], got[2*to-1])
			}
			// every call is found by its number too
			for range 50 {
				k := rand.Uint64N(thread.Calls)
				require.True(t, cursor.Seek(k) && cursor.Next(), cursor.Err())
				require.Equal(t, got[2*k:2*k+2], []int64{cursor.Event().EnterTicks, cursor.Event().ExitTicks})
				require.Equal(t, of[k], cursor.Event().TimesOf)
			}
		}
	}
	require.Positive(t, stood)
}

// What was read can be written again byte by byte, from memory and from the file, and with
// signatures that became one.
func TestExtrapolationsAreWritten(t *testing.T) {
	c := clustered(6, 40)
	file := written(t, c)
	r := opened(t, file)
	all, err := r.Content()
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(c, all, cmpopts.EquateEmpty(), listed))
	require.True(t, bytes.Equal(file, written(t, all)))
	streamed, err := r.StreamedContent()
	require.NoError(t, err)
	require.True(t, bytes.Equal(file, written(t, streamed)))
	threads := streamed.Threads.List()
	for i := range threads {
		threads[i].SignaturesJoined = true
	}
	streamed.Threads = NewThreadTable(threads...)
	require.True(t, bytes.Equal(file, written(t, streamed)))
	plain := written(t, stencil(6, 40, true))
	require.Less(t, opened(t, file).Sizes().Timing, opened(t, plain).Sizes().Timing)
}

// Without the lead's times the calls are spread evenly, and the interval has the same length.
func TestExtrapolationWithoutLead(t *testing.T) {
	c := clustered(6, 40)
	full := stencil(6, 40, true)
	c.Threads.Change(2, func(t *Thread) { t.Extrapolations[0].Lead = 77 })
	cursor, err := c.Cursor(2, 0)
	require.NoError(t, err)
	ticks, of := moments(t, cursor)
	own, err := full.Cursor(2, 0)
	require.NoError(t, err)
	want, _ := moments(t, own)
	thread := c.Threads.At(2)
	from, to, _ := thread.interval(2)
	require.Equal(t, want[2*to-1:], ticks[2*to-1:])
	require.Equal(t, -1, of[from])
	for k := 2*from + 1; k < 2*to; k++ {
		require.LessOrEqual(t, ticks[k-1], ticks[k])
	}
}

const callsAcrossBlocks = 3*timing.BlockCalls + 100

// acrossBlocks has blocks of timing that begin in the middle of extrapolated intervals; full is the
// same with all times.
func acrossBlocks() (full, c *Content) {
	const calls = callsAcrossBlocks
	make := func() *Content {
		c := &Content{Meta: Meta{World: "w", WorldSize: 2, Timing: timing.Settings{Mode: timing.Lossless}}, Functions: testFunctions,
			Signatures: []Signature{{Function: 2, Return: number(0), OwnRank: -1}}, Ranks: NewRankTable(Rank{Rank: 0}, Rank{Rank: 1}),
			Grammar: grammar.Grammar{Rules: [][]grammar.Symbol{{{Value: 0, Count: calls}}}}}
		for rank := range 2 {
			r := rand.New(rand.NewPCG(1, uint64(rank)))
			t := Thread{Rank: rank, Calls: calls, InShape: rank, FirstTick: 1000}
			for range calls {
				t.Gaps, t.Durations = append(t.Gaps, 5+r.Int64N(20)), append(t.Durations, 5+r.Int64N(10))
			}
			for m := uint64(100); m < calls; m += 50_000 {
				t.CallsAtVotes = append(t.CallsAtVotes, m)
				t.Overheads = append(t.Overheads, Overhead{Call: m, Ticks: 40}, Overhead{Call: m + 7_000, Ticks: 3})
			}
			t.Gaps[0] = 0
			c.Threads.Append(t)
		}
		return c
	}
	full, c = make(), make()
	c.Meta.Clustering = &Clustering{}
	threads := c.Threads.List()
	for vote := 1; vote < len(threads[0].CallsAtVotes); vote++ {
		standFor(&threads[vote%2], vote, 1-vote%2)
	}
	c.Threads = NewThreadTable(threads...)
	return full, c
}

// Blocks of timing may begin in the middle of an interval.
func TestExtrapolationsAcrossBlocks(t *testing.T) {
	const calls = callsAcrossBlocks
	full, c := acrossBlocks()
	r := opened(t, written(t, c))
	for rank := range 2 {
		own, err := full.Cursor(rank, 0)
		require.NoError(t, err)
		want, _ := moments(t, own)
		cursor, err := r.Cursor(rank, 0)
		require.NoError(t, err)
		got, of := moments(t, cursor)
		for k := range of {
			if of[k] == rank {
				require.Equal(t, want[2*k:2*k+2], got[2*k:2*k+2], k)
			}
		}
		for _, k := range []uint64{0, 99, 100, timing.BlockCalls - 1, timing.BlockCalls, timing.BlockCalls + 1, 2 * timing.BlockCalls, 3 * timing.BlockCalls, calls - 1} {
			require.True(t, cursor.Seek(k) && cursor.Next(), cursor.Err())
			require.Equal(t, got[2*k:2*k+2], []int64{cursor.Event().EnterTicks, cursor.Event().ExitTicks}, k)
			require.True(t, cursor.SeekTime(cursor.Event().Exit-1) && cursor.Next(), cursor.Err())
			require.Equal(t, k, cursor.Event().Index)
		}
	}
}

func TestExtrapolationsAreChecked(t *testing.T) {
	for name, damage := range map[string]func(t *Thread){
		"mark beyond":    func(t *Thread) { t.CallsAtVotes[2] = t.Calls + 1 },
		"marks back":     func(t *Thread) { t.CallsAtVotes[1] = 0 },
		"vote unknown":   func(t *Thread) { t.Extrapolations[0].Vote = 3 },
		"first interval": func(t *Thread) { t.Extrapolations[0].Vote = 0 },
		"itself":         func(t *Thread) { t.Extrapolations[0].Lead = t.Rank },
		"twice":          func(t *Thread) { t.Extrapolations = append(t.Extrapolations, t.Extrapolations[0]) },
		"gap":            func(t *Thread) { t.Extrapolations[0].Gap = -1 },
		"no call":        func(t *Thread) { t.CallsAtVotes[1] = t.CallsAtVotes[2] },
	} {
		t.Run(name, func(t *testing.T) {
			c := clustered(4, 12)
			c.Threads.Change(2, damage)
			require.Error(t, c.Validate())
		})
	}
	// two that lead each other
	c := clustered(4, 12)
	c.Threads.Change(1, func(t *Thread) { standFor(t, 2, 2) })
	require.NoError(t, c.Validate())
	cursor, err := c.Cursor(2, 0)
	require.NoError(t, err)
	for cursor.Next() {
	}
	require.ErrorIs(t, cursor.Err(), errExtrapolated)
}

func TestSpread(t *testing.T) {
	for range 1000 {
		values := make([]int64, 1+rand.IntN(9))
		for i := range values {
			values[i] = rand.Int64N(1 << (1 + rand.IntN(59)))
		}
		sum, got := rand.Int64(), int64(0)
		require.True(t, spread(values, sum))
		for _, v := range values {
			require.GreaterOrEqual(t, v, int64(0))
			got += v
		}
		require.Equal(t, sum, got)
	}
}

// Lengths of lists that no file can have are errors before memory is taken for them.
func TestRowsOfRefusesDamagedLengths(t *testing.T) {
	for _, test := range []struct {
		lengths []int64
		want    int
		err     error
	}{
		{[]int64{0, 3, 4}, 7, nil},
		{[]int64{3, -1}, 0, codec.ErrNumber},
		{[]int64{math.MaxInt32 + 1}, 0, codec.ErrNumber},
		{[]int64{100, 100}, 0, codec.ErrMemory},
	} {
		d := newDecoder(nil, codec.NewBudget(1000))
		require.Equal(t, test.want, d.rowsOf(test.lengths, 8), test.lengths)
		require.ErrorIs(t, d.Err, test.err, test.lengths)
	}
}
