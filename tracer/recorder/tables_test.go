package recorder

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
)

// Any bytes as tables, and as changes of them, yield an error or a working recorder.
func FuzzTables(f *testing.F) {
	s := recordtest.NewShim(f)
	s.RandomProgram(rand.New(rand.NewPCG(3, 1)), 60)
	r := New(s.Process)
	r.Consume(sourcesOf(s, r, false))
	first := slices.Clone(r.AppendTables(nil, true))
	s.RandomProgram(rand.New(rand.NewPCG(4, 1)), 60)
	r.Consume(sourcesOf(s, r, true))
	f.Add(first, r.AppendTables(nil, false))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		r := New(s.Process)
		if r.applyTables(first) != nil || r.applyTables(second) != nil || r.completeTables() != nil {
			return
		}
		for _, th := range r.threads {
			for _, stream := range th.streams.All() {
				_ = stream.Runs()
			}
		}
		again := New(s.Process)
		tables := r.AppendTables(nil, true)
		require.NoError(t, again.applyTables(tables))
		require.NoError(t, again.completeTables())
		require.True(t, bytes.Equal(tables, again.AppendTables(nil, true)))
	})
}
