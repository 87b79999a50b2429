package recorder

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Any bytes as tables, and as what changed in them since, give an error or a recorder that works.
func FuzzTables(f *testing.F) {
	s := newFakeShim(f)
	s.randomProgram(rand.New(rand.NewPCG(3, 1)), 60)
	r := New(s.process)
	r.consume(sourcesOf(s, r, false))
	first := slices.Clone(r.appendTables(nil, true))
	s.randomProgram(rand.New(rand.NewPCG(4, 1)), 60)
	r.consume(sourcesOf(s, r, true))
	f.Add(first, r.appendTables(nil, false))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		r := New(s.process)
		if r.applyTables(first) != nil || r.applyTables(second) != nil || r.completeTables() != nil {
			return
		}
		for _, th := range r.threads {
			for i := range th.results {
				for k := range th.results[i].streams {
					_ = th.results[i].streams[k].encoded(0)
				}
			}
		}
		again := New(s.process)
		tables := r.appendTables(nil, true)
		require.NoError(t, again.applyTables(tables))
		require.NoError(t, again.completeTables())
		require.True(t, bytes.Equal(tables, again.appendTables(nil, true)))
	})
}
