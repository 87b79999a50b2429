package recorder

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Chapters that are in memory are restored, and nothing of what was called is lost.
func TestChaptersAreRestored(t *testing.T) {
	s := newFakeShim(t)
	s.randomProgram(rand.New(rand.NewPCG(1, 6)), 6_000)
	whole := contentOf(s)
	r := New(s.process)
	r.limits.grammar = 10_000
	for range 3 {
		r.consume(sourcesOf(s, r, false))
		r.closeChapters()
	}
	again, err := Restore(s.process, r.AppendState(nil))
	require.NoError(t, err)
	got := inMemory(t)(again.Content())
	for i := range whole.Threads.Len() {
		n := got.Threads.At(i).Calls
		require.Equal(t, lines(t, whole, i)[:n], lines(t, got, i))
	}
}
