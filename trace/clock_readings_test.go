package trace

import (
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

// Results of MPI_Wtime count as timing, and are read like all other values.
func TestClockReadingsAreTimes(t *testing.T) {
	c := wtimes(t, 5000)
	r := opened(t, written(t, c))
	sizes := r.Sizes()
	require.Greater(t, sizes.Timing, int64(5000/4))
	require.Less(t, sizes.Values, sizes.Timing/4)
	got, err := r.Content()
	require.NoError(t, err)
	require.Equal(t, c.Sequences, got.Sequences)

	// a sequence that another call uses, too, is not a clock reading
	thread := c.Threads.At(0)
	require.True(t, clockReadings(c)[len(c.Sequences)-1])
	thread.Streams = append(thread.Streams, StreamRef{Terminal: 0, Number: 9, Sequence: int32(len(c.Sequences) - 1)})
	c.Threads.Append(thread)
	require.False(t, clockReadings(c)[len(c.Sequences)-1])
}

// A wallClock converts the nanoseconds of some clock to seconds, as an MPI implementation does.
type wallClock func(ns int64) float64

var wallClocks = map[string]wallClock{
	"since the start, as Open MPI": func(ns int64) float64 { // origin 5.3 s
		s, n := ns/1e9-5, ns%1e9-300_000_000
		return float64(n)/1e9 + float64(s)
	},
	"since boot, as MPICH": func(ns int64) float64 { return float64(ns/1e9) + 1e-9*float64(ns%1e9) },
	"microseconds since 1970": func(ns int64) float64 {
		us := (ns + 1_700_000_000_123_456_789) / 1000
		return float64(us/1e6) + float64(us%1e6)*1e-6
	},
	"cycles, of which one is a little longer than told": func(ns int64) float64 { return float64(int64(float64(ns)*2.1)) / 2.1003e9 },
	"set back by an hour": func(ns int64) float64 {
		if ns > 7e9 {
			ns -= 3600e9
		}
		return float64(ns) / 1e9
	},
}

// clockReader is a rank that calls MPI_Wtime repeatedly from two call sites, and MPI_Barrier, with
// times; the values are those of a clock that is read during the call.
func clockReader(clock wallClock, seed uint64, calls int) *Content {
	r := rand.New(rand.NewPCG(seed, 1))
	c := stencil(1, 1, true)
	terminal := int32(len(c.Signatures))
	c.Signatures = append(c.Signatures,
		Signature{Function: 9, OwnRank: -1, Return: stream(0)}, Signature{Function: 9, OwnRank: -1, Return: stream(0)})
	c.Meta.Final = true
	c.Ranks.Change(0, func(rank *Rank) {
		rank.Clock = timing.Clock{Kind: "tsc", Samples: []timing.ClockSample{{Ticks: 1000, MonotonicNS: 5e9, RealtimeNS: 0}, {Ticks: 1000 + 30e9, MonotonicNS: 15e9, RealtimeNS: 0}}}
	})
	first := len(c.Sequences)
	c.Sequences = append(c.Sequences, codec.Sequence{}, codec.Sequence{})
	c.Threads.Change(0, func(thread *Thread) {
		var body []grammar.Symbol
		thread.Gaps, thread.Durations, thread.FirstTick = nil, nil, 1000
		tick := thread.FirstTick
		for i := range calls {
			gap, duration := r.Int64N(3000), 60+r.Int64N(30)
			if i == 0 {
				gap = 0
			}
			if r.IntN(50) == 0 {
				gap = r.Int64N(30_000_000)
			}
			which := int32(r.IntN(3))
			thread.Gaps, thread.Durations = append(thread.Gaps, gap), append(thread.Durations, duration)
			tick += gap + duration
			if which == 2 { // any call that does not read the clock
				body = append(body, grammar.Symbol{Value: 0, Count: 1})
				continue
			}
			body = append(body, grammar.Symbol{Value: terminal + which, Count: 1})
			ns := int64(5e9) + (tick-1000-r.Int64N(60))/3
			s := first + int(which)
			c.Sequences[s].Values = append(c.Sequences[s].Values, int64(math.Float64bits(clock(ns))))
		}
		thread.Root, thread.Calls = len(c.Grammar.Rules), uint64(calls)
		c.Grammar.Rules = append(c.Grammar.Rules, body)
		for k := range int32(2) {
			thread.Streams = append(thread.Streams, StreamRef{Terminal: terminal + k, Sequence: int32(first) + k})
		}
		thread.EndTick = tick
	})
	return c
}

// roundOne rounds the next interval.
func roundOne(r *timing.Rounder, g *timing.Grid, x int64) int64 {
	one := []int64{x}
	r.Round(g, one)
	return one[0]
}

// rounded rounds the times of the only rank as the recorder does.
func roundedTimes(t *testing.T, c *Content) *Content {
	g, err := timing.GridOf(5)
	require.NoError(t, err)
	rounded := *c
	rounded.Meta.Timing = timing.Settings{Mode: timing.Lossy, ErrorPercent: 5}
	rounded.Threads = ThreadTable{}
	for _, thread := range c.Threads.All() {
		var r timing.Rounder
		gaps, durations := make([]int64, len(thread.Gaps)), make([]int64, len(thread.Gaps))
		for i := range gaps {
			gaps[i], durations[i] = roundOne(&r, g, thread.Gaps[i]), roundOne(&r, g, thread.Durations[i])
		}
		thread.Gaps, thread.Durations = gaps, durations
		rounded.Threads.Append(thread)
	}
	return &rounded
}

func readingBytes(t *testing.T, file []byte) int64 {
	for i, entries := 0, opened(t, file).index; i < entries.Len(); i++ {
		if e := entries.At(i); e.Kind == blockClockReadings {
			return e.Size
		}
	}
	t.Fatal("no clock readings")
	return 0
}

// With lossless timing readings are restored exactly, whatever the clock.
func TestExactReadings(t *testing.T) {
	calls := 20_000
	if testing.Short() {
		calls = 2000
	}
	for name, clock := range wallClocks {
		t.Run(name, func(t *testing.T) {
			c := clockReader(clock, 7, calls)
			file := written(t, c)
			got, err := opened(t, file).Content()
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(c, got, cmpopts.EquateEmpty(), listed))
			require.Equal(t, file, written(t, got))
			for i, want := range c.Sequences {
				one, err := opened(t, file).Sequence(i)
				require.NoError(t, err)
				require.Equal(t, len(want.Values), len(one))
				require.Equal(t, want.Values, append([]int64(nil), one...))
			}
		})
	}
}

// With lossy timing readings are within the bound of a moment, take almost no space, and can be
// written again.
func TestNearReadings(t *testing.T) {
	calls := 50_000
	if testing.Short() {
		calls = 15_000
	}
	for name, clock := range wallClocks {
		t.Run(name, func(t *testing.T) {
			c := roundedTimes(t, clockReader(clock, 11, calls))
			file := written(t, c)
			got, err := opened(t, file).Content()
			require.NoError(t, err)
			clocks := opened(t, file).clockOf(t, 0)
			bound := float64(clocks.AtMost(timing.MomentTicks)+readingNoise) / 1e9
			for i, want := range c.Sequences {
				require.Equal(t, len(want.Values), len(got.Sequences[i].Values))
				if len(want.Values) == 0 || !clockReadings(c)[i] {
					require.Equal(t, want.Values, got.Sequences[i].Values)
					continue
				}
				for k, v := range want.Values {
					require.InDelta(t, math.Float64frombits(uint64(v)), math.Float64frombits(uint64(got.Sequences[i].Values[k])), bound, "value %d", k)
				}
			}
			again, err := opened(t, written(t, got)).Content()
			require.NoError(t, err)
			for i := range got.Sequences {
				for k, v := range got.Sequences[i].Values {
					require.InDelta(t, math.Float64frombits(uint64(v)), math.Float64frombits(uint64(again.Sequences[i].Values[k])), 2e-6)
				}
			}
			each := float64(readingBytes(t, file)) * 1.5 / float64(calls)
			t.Logf("%.3f bytes a reading", each)
			require.Less(t, each, 0.1)
		})
	}
}

// A cursor returns the same readings from the beginning, from anywhere else, and from memory.
func TestCursorsReadClocks(t *testing.T) {
	for _, c := range []*Content{clockReader(wallClocks["since boot, as MPICH"], 3, 70_000), roundedTimes(t, clockReader(wallClocks["since boot, as MPICH"], 3, 70_000))} {
		r := opened(t, written(t, c))
		content, err := r.Content()
		require.NoError(t, err)
		memory, err := content.Cursor(0, 0)
		require.NoError(t, err)
		cursor, err := r.Cursor(0, 0)
		require.NoError(t, err)
		var all []string
		for cursor.Next() {
			text := cursor.Event().Text()
			if !memory.Next() || memory.Event().Text() != text {
				t.Fatalf("in memory %s, in the file %s (%v)", memory.Event().Text(), text, memory.Err())
			}
			all = append(all, text)
		}
		require.NoError(t, cursor.Err())
		for _, at := range []int{0, 1, 999, timing.BlockCalls - 1, timing.BlockCalls, timing.BlockCalls + 7, len(all) - 1} {
			require.True(t, cursor.Seek(uint64(at)))
			require.True(t, cursor.Next())
			require.Equal(t, all[at], cursor.Event().Text(), "call %d", at)
		}
	}
}

// Readings are stored unchanged if their calls have no times, or they are not seconds.
func TestReadingsThatStayPlain(t *testing.T) {
	one := func() *Content { return clockReader(wallClocks["since boot, as MPICH"], 5, 300) }
	withoutTimes := one()
	withoutTimes.Threads.Change(0, func(thread *Thread) { thread.Gaps, thread.Durations = nil, nil })
	shard := one()
	shard.Meta.Final = false
	strange := one()
	last := len(strange.Sequences) - 1
	for k, v := range []float64{math.NaN(), math.Inf(1), -1e300, 1e20} {
		strange.Sequences[last-k%2].Values[k] = int64(math.Float64bits(v))
	}
	for name, c := range map[string]*Content{"no times": withoutTimes, "shard": shard, "no seconds": strange} {
		t.Run(name, func(t *testing.T) {
			coded, err := codeReadings(c, clockReadings(c))
			require.NoError(t, err)
			require.Empty(t, coded.codes)
			got, err := opened(t, written(t, c)).Content()
			require.NoError(t, err)
			require.Equal(t, c.Sequences, got.Sequences)
		})
	}
	relative, err := codeReadings(one(), clockReadings(one()))
	require.NoError(t, err)
	require.Len(t, relative.codes, 2)
}

// Readings that a thread does not have, or that have no times, are damage, and no crash.
func TestDamagedReadings(t *testing.T) {
	file := written(t, clockReader(wallClocks["since boot, as MPICH"], 5, 300))
	entries, contents := blocksOf(t, file)
	for at, e := range entries {
		if e.Kind != blockTimingStart {
			continue
		}
		r := opened(t, file)
		table := r.shared
		table.Threads.times = nil
		s := spoiledBlock{file, entries, contents, at}
		untimed := opened(t, s.with(appendTimingStart(&table)))
		_, err := untimed.Content()
		require.ErrorIs(t, err, errReadings)
		cursor, err := untimed.Cursor(0, 0)
		require.NoError(t, err)
		for cursor.Next() {
		}
		require.ErrorIs(t, cursor.Err(), errReadings)
	}
}

// Coded readings are restored for any numbers, even if sums wrap around.
func FuzzClockReading(f *testing.F) {
	f.Add(uint8(1), int64(131072), int64(5), int64(math.Float64bits(1.5)), int64(7))
	f.Add(uint8(2), int64(1), int64(-5), int64(math.Float64bits(-1e5)), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, form uint8, unit, offset, value, exit int64) {
		r := clockReading{readingForm(form % uint8(readingForms)), unit & math.MaxInt32, offset}
		if r.form == nearReadings {
			r.unit |= 1
		}
		if !codable([]int64{value}) {
			return
		}
		if codes := r.codes([]int64{value}, []int64{exit}); codes != nil && r.form == exactReadings {
			require.Equal(t, value, r.value(codes[0], exit))
		}
	})
}
