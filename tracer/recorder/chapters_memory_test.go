package recorder

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
)

// Chapters in memory are restored, and no call is lost.
func TestChaptersAreRestored(t *testing.T) {
	s := recordtest.NewShim(t)
	s.RandomProgram(rand.New(rand.NewPCG(1, 6)), 6_000)
	whole := contentOf(s)
	r := New(s.Process)
	r.Limits.Grammar = 10_000
	for range 3 {
		r.Consume(sourcesOf(s, r, false))
		r.CloseBlocks()
	}
	again, err := Restore(s.Process, r.AppendState(nil))
	require.NoError(t, err)
	got := recordtest.InMemory(t)(again.Content())
	for i := range whole.Threads.Len() {
		n := got.Threads.At(i).Calls
		require.Equal(t, recordtest.Lines(t, whole, i)[:n], recordtest.Lines(t, got, i))
	}
}
