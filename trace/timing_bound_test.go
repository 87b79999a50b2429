package trace

import (
	"testing"

	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/stretchr/testify/require"
)

// The errors that a cursor reports for times are upper bounds, and are the same from the beginning,
// from anywhere else in the file, and from memory.
func TestCursorsKnowTheErrorOfTimes(t *testing.T) {
	exact := stencil(2, 34_000, true)
	exact.Threads.Change(0, func(t *Thread) { // one call in ten thousand comes after two long gaps
		for i := 0; i+3 < len(t.Gaps); i += 10_000 {
			t.Gaps[i+3], t.Gaps[i+4] = int64(1_000_000+i), int64(800_000+7*i)
		}
	})
	rounded := *exact
	rounded.Meta.Timing = timing.Settings{Mode: timing.Lossy, ErrorPercent: 5}
	rounded.Threads = ThreadTable{}
	g, err := timing.GridOf(5)
	require.NoError(t, err)
	for _, thread := range exact.Threads.All() {
		gaps, durations := make([]int64, len(thread.Gaps)), make([]int64, len(thread.Gaps))
		var r timing.Rounder
		for i := range gaps {
			gaps[i], durations[i] = roundOne(&r, g, thread.Gaps[i]), roundOne(&r, g, thread.Durations[i])
		}
		thread.Gaps, thread.Durations = gaps, durations
		rounded.Threads.Append(thread)
	}
	reader := opened(t, written(t, &rounded))
	truth, err := exact.Cursor(0, 0)
	require.NoError(t, err)
	memory, err := rounded.Cursor(0, 0)
	require.NoError(t, err)
	cursor, err := reader.Cursor(0, 0)
	require.NoError(t, err)
	type errors struct{ enter, exit int64 }
	var all []errors
	narrow, limit := 0, reader.clockOf(t, 0).AtMost(timing.MomentTicks)
	for truth.Next() {
		if !cursor.Next() || !memory.Next() {
			t.Fatal(cursor.Err(), memory.Err())
		}
		a, b, m := truth.Event(), cursor.Event(), memory.Event()
		bounded := timing.Magnitude(a.Enter-b.Enter) <= b.EnterError && timing.Magnitude(a.Exit-b.Exit) <= b.ExitError && b.ExitError <= limit
		if a.EnterError != 0 || !bounded || m.EnterError != b.EnterError || m.ExitError != b.ExitError {
			t.Fatalf("%+v is stored as %+v, and is %+v in memory", a, b, m)
		}
		all = append(all, errors{b.EnterError, b.ExitError})
		if b.ExitError < 5000 {
			narrow++
		}
	}
	require.Greater(t, len(all), 2*timing.BlockCalls)
	require.Greater(t, narrow, len(all)/2, "mostly it is known better than to the limit")
	for _, at := range []int{0, 5, 999, timing.BlockCalls - 1, timing.BlockCalls, timing.BlockCalls + 1, 70_000, len(all) - 1} {
		require.True(t, cursor.Seek(uint64(at)))
		require.True(t, cursor.Next())
		require.Equal(t, all[at], errors{cursor.Event().EnterError, cursor.Event().ExitError}, "call %d", at)
	}
}

func (t *Reader) clockOf(tb testing.TB, rank int) *timing.ClockMap {
	tb.Helper()
	r := t.shared.rank(rank)
	m := timing.NewClockMap(&r.Clock)
	return &m
}
