package trace_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
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

// A cursor that was sent to any call goes on as one that came there call by call, forwards and backwards.
func TestSeekAndPrevious(t *testing.T) {
	configs := []simulate.Config{{Pattern: "stencil2d", Ranks: 9, Iterations: 30, Points: 9, Cartesian: true}}
	for _, name := range simulate.Names() {
		configs = append(configs, simulate.Config{Pattern: name, Ranks: 8, Iterations: 40})
	}
	for _, config := range configs {
		t.Run(config.Pattern, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			r := open(t, file(t, config))
			for _, thread := range r.Threads() {
				cursor, err := r.Cursor(thread.Rank, thread.Thread)
				require.NoError(t, err)
				want := texts(t, cursor)
				require.Len(t, want, int(thread.Calls))
				for k := len(want) - 1; k >= 0; k-- {
					require.True(t, cursor.Previous())
					require.Equal(t, want[k], text(cursor.Event()))
				}
				require.False(t, cursor.Previous())
				for range 12 {
					k := random.IntN(len(want) + 1)
					require.True(t, cursor.Seek(uint64(k)))
					for i := k; i < min(k+30, len(want)); i++ {
						require.True(t, cursor.Next())
						require.Equal(t, want[i], text(cursor.Event()))
					}
					at := min(k+30, len(want))
					require.Equal(t, at < len(want), cursor.Next())
					if at < len(want) { // there, back and there again
						require.Equal(t, at > 0, cursor.Previous())
						if at > 0 {
							require.Equal(t, want[at-1], text(cursor.Event()))
							require.True(t, cursor.Next())
						}
						require.Equal(t, want[at], text(cursor.Event()))
					}
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
