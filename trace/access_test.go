package trace_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// file is the finished trace of a simulated program.
func file(t testing.TB, config simulate.Config) []byte {
	t.Helper()
	sim, err := simulate.New(config)
	require.NoError(t, err)
	contents, err := sim.Contents()
	require.NoError(t, err)
	merged, err := merger.Merge(contents, merger.Options{Final: true})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, trace.Write(&b, merged))
	return b.Bytes()
}

func open(t testing.TB, b []byte) *trace.Reader {
	t.Helper()
	r, err := trace.Open(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	return r
}

// texts are the calls that a cursor gives from here on.
func texts(t *testing.T, c *trace.Cursor) []string {
	t.Helper()
	var list []string
	for c.Next() {
		list = append(list, text(c.Event()))
	}
	require.NoError(t, c.Err())
	return list
}

func text(e *trace.Event) string {
	return fmt.Sprintf("%s comm %d as %d makes %d", e.AppendJSON(nil), e.Comm, e.OwnRank, e.NewComm)
}

// After seeking to any call, a cursor continues like one that got there call by call.
func TestSeek(t *testing.T) {
	iterations := 40
	if testing.Short() {
		iterations = 8
	}
	configs := []simulate.Config{{Pattern: "stencil2d", Ranks: 9, Iterations: 30, Points: 9, Cartesian: true}}
	for _, name := range simulate.Names() {
		ranks := 8
		if name == "multipartition" { // a square number
			ranks = 9
		}
		configs = append(configs, simulate.Config{Pattern: name, Ranks: ranks, Iterations: iterations})
	}
	for _, config := range configs {
		t.Run(config.Pattern, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			r := open(t, file(t, config))
			for _, thread := range r.Threads().All() {
				cursor, err := r.Cursor(thread.Rank, thread.Thread)
				require.NoError(t, err)
				want := texts(t, cursor)
				require.Len(t, want, int(thread.Calls))
				for range 12 {
					k := random.IntN(len(want) + 1)
					require.True(t, cursor.Seek(uint64(k)))
					for i := k; i < min(k+30, len(want)); i++ {
						require.True(t, cursor.Next())
						require.Equal(t, want[i], text(cursor.Event()))
					}
					require.Equal(t, k+30 < len(want), cursor.Next())
				}
				require.NoError(t, cursor.Err())
			}
		})
	}
}

func bytesOf(t testing.TB, c *trace.Content) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, trace.Write(&b, c))
	return b.Bytes()
}

// A time leads to the first call that ends after it.
func TestSeekTime(t *testing.T) {
	r := open(t, file(t, simulate.Config{Pattern: "wavefront", Ranks: 6, Imbalance: simulate.Imbalance{Noise: 50}}))
	for _, thread := range r.Threads().All() {
		cursor, err := r.Cursor(thread.Rank, thread.Thread)
		require.NoError(t, err)
		var exits []int64
		for cursor.Next() {
			exits = append(exits, cursor.Event().Exit)
		}
		for i := 1; i < len(exits); i += 17 {
			require.True(t, cursor.SeekTime(exits[i]-1))
			require.True(t, cursor.Next())
			require.EqualValues(t, i, cursor.Event().Index)
			require.Equal(t, exits[i], cursor.Event().Exit)
			require.True(t, cursor.SeekTime(exits[i]))
			require.Equal(t, i+1 < len(exits), cursor.Next())
		}
		require.True(t, cursor.SeekTime(0))
		require.True(t, cursor.Next())
		require.Zero(t, cursor.Event().Index)
		require.NoError(t, cursor.Err())
	}
	without := pingPong()
	without.Threads.Change(0, func(t *trace.Thread) { t.Gaps, t.Durations = nil, nil })
	cursor, err := without.Cursor(0, 0)
	require.NoError(t, err)
	require.False(t, cursor.SeekTime(5))
	require.ErrorContains(t, cursor.Err(), "no times")
}

// Of a thread with several blocks of timing only the one with the call is decoded.
func TestSeekTimeAcrossBlocks(t *testing.T) {
	r := open(t, file(t, simulate.Config{Pattern: "ring", Ranks: 2, Iterations: 3*timing.BlockCalls + 100, Imbalance: simulate.Imbalance{Noise: 50}}))
	cursor, err := r.Cursor(1, 0)
	require.NoError(t, err)
	var exits []int64
	for cursor.Next() {
		exits = append(exits, cursor.Event().Exit)
	}
	require.Greater(t, len(exits), 3*timing.BlockCalls)
	for _, i := range []int{1, 100, timing.BlockCalls - 1, timing.BlockCalls, timing.BlockCalls + 1, 2*timing.BlockCalls + 5, len(exits) - 1} {
		for _, before := range []int64{0, 1} { // a call that ends at the time has ended
			require.True(t, cursor.SeekTime(exits[i-1]-before))
			require.True(t, cursor.Next())
			require.EqualValues(t, uint64(i)-uint64(before), cursor.Event().Index)
			require.Equal(t, exits[cursor.Event().Index], cursor.Event().Exit)
		}
	}
}

// requests counts the reads of a reader: over object storage each is a ranged GET.
type requests struct {
	bytes.Reader
	n    int
	read int64
}

func (r *requests) ReadAt(p []byte, at int64) (int, error) {
	r.n++
	r.read += int64(len(p))
	return r.Reader.ReadAt(p, at)
}

// One rank, or one section, of a large trace costs few requests and few bytes.
func TestFewRequests(t *testing.T) {
	b := file(t, simulate.Config{Pattern: "ring", Ranks: 256, Iterations: 400, Imbalance: simulate.Imbalance{Noise: 30}})
	from := &requests{Reader: *bytes.NewReader(b)}
	r, err := trace.Open(from, int64(len(b)))
	require.NoError(t, err)
	t.Logf("%d bytes; open: %d requests, %d bytes", len(b), from.n, from.read)
	require.LessOrEqual(t, from.n, 3, "the end, and what all ranks share")
	require.Less(t, from.read, int64(len(b)/3))

	from.n, from.read = 0, 0
	_, err = r.Counts()
	require.NoError(t, err)
	require.NoError(t, trace.VisitDistinct(r, 0, math.MaxUint64))
	require.LessOrEqual(t, from.n, 1, "the value streams, if at all")

	from.n, from.read = 0, 0
	cursor, err := r.Cursor(200, 0)
	require.NoError(t, err)
	require.True(t, cursor.Seek(333))
	require.True(t, cursor.Next())
	require.EqualValues(t, 333, cursor.Event().Index)
	t.Logf("a call of a rank: %d requests, %d bytes", from.n, from.read)
	require.LessOrEqual(t, from.n, 2, "a block of value streams, a block of timing")
	require.Less(t, from.read, int64(len(b)/50))
}
