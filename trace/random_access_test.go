package trace_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/trace"
)

// large is a trace of which any one rank is a small part: nearly all of it is timing.
func large(t *testing.T) []byte {
	return file(t, simulate.Config{Pattern: "ring", Ranks: 96, Iterations: 300, Imbalance: simulate.Imbalance{Noise: 30}})
}

// counted opens a trace and resets the counters.
func counted(t *testing.T, b []byte) (*trace.Reader, *requests) {
	from := &requests{Reader: *bytes.NewReader(b)}
	r, err := trace.Open(from, int64(len(b)))
	require.NoError(t, err)
	from.n, from.read = 0, 0
	return r, from
}

// Each kind of access reads little of a trace: at most the given number of requests, and a fraction
// of the bytes.
func TestRandomAccessReadsLittle(t *testing.T) {
	b := large(t)
	whole, err := open(t, b).Cursor(70, 0)
	require.NoError(t, err)
	want := texts(t, whole)
	at := func(cursor *trace.Cursor, index int) {
		t.Helper()
		require.NoError(t, cursor.Err())
		require.Equal(t, want[index], text(cursor.Event()))
	}
	for _, test := range []struct {
		name string
		most int
		read func(t *testing.T, r *trace.Reader)
	}{
		{"a section", 0, func(t *testing.T, r *trace.Reader) {
			require.NotEmpty(t, r.Signatures())
			require.NotEmpty(t, r.Communicators())
		}},
		{"a rank", 2, func(t *testing.T, r *trace.Reader) {
			cursor, err := r.Cursor(70, 0)
			require.NoError(t, err)
			require.Equal(t, want, texts(t, cursor))
		}},
		{"a call", 2, func(t *testing.T, r *trace.Reader) {
			cursor, err := r.Cursor(70, 0)
			require.NoError(t, err)
			require.True(t, cursor.Seek(155))
			require.True(t, cursor.Next())
			at(cursor, 155)
		}},
		{"a time", 2, func(t *testing.T, r *trace.Reader) {
			cursor, err := r.Cursor(70, 0)
			require.NoError(t, err)
			begin, end := r.Span(r.Threads().Find(70, 0))
			require.True(t, cursor.SeekTime((begin+end)/2))
			require.True(t, cursor.Next())
			at(cursor, int(cursor.Event().Index))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, from := counted(t, b)
			test.read(t, r)
			require.LessOrEqual(t, from.n, test.most, "requests")
			require.LessOrEqual(t, from.read, int64(test.most)*int64(len(b))/40, "bytes of %d", len(b))
		})
	}
}

// A call is the same wherever reading begins, even if requests, lists of them and statuses vary
// from call to call: earlier values are skipped, and lists of changes are applied.
func TestSeekAmongVaryingCalls(t *testing.T) {
	r := open(t, file(t, simulate.Config{Pattern: "random", Ranks: 3, Iterations: 3000, Variety: 300}))
	varying := 0
	for _, s := range r.Signatures() {
		for _, v := range append(s.In, s.Out...) {
			if v.Form == trace.Stream || v.Form == trace.ListStream {
				varying++
				break
			}
		}
	}
	require.Positive(t, varying)
	for rank := range 3 {
		whole, err := r.Cursor(rank, 0)
		require.NoError(t, err)
		want := texts(t, whole)
		require.Greater(t, len(want), 2000)
		cursor, err := r.Cursor(rank, 0)
		require.NoError(t, err)
		for begin := 0; begin < len(want); begin += 1 + len(want)/37 {
			require.True(t, cursor.Seek(uint64(begin)), "%d: %v", begin, cursor.Err())
			for index := begin; index < min(begin+200, len(want)); index++ {
				require.True(t, cursor.Next(), "%d: %v", index, cursor.Err())
				require.Equal(t, want[index], text(cursor.Event()), "call %d, read from %d on", index, begin)
			}
		}
	}
}
