package program

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// irregular is a job in which each rank makes other calls, from many call sites and with many
// sizes.
func irregular(t *testing.T, ranks, calls int) timeline.Trace {
	b := tracetest.New(ranks)
	for i := range ranks {
		random, now := rand.New(rand.NewPCG(1, uint64(i))), 1.0
		r := b.Rank(i).Init(0, now)
		for range calls {
			r.At(string(rune('a'+random.IntN(26)))).Call("MPI_Type_size", now, now+1, tracetest.Args{"datatype": random.IntN(300)})
			now++
		}
		r.Finalize(now, now+1)
	}
	return timeline.Of(b.Open(t))
}

// A program text that takes too long is left out by name. That is no failure, and says what to do.
func TestLeftOut(t *testing.T) {
	trace := irregular(t, 4, 2000)
	found, err := within(t.Context(), trace, 1_000_000)
	require.NoError(t, err)
	require.Nil(t, found.Program)
	assert.Contains(t, found.Omitted, "The analysis program is left out")
	assert.Contains(t, found.Omitted, "cairn program TRACE")
	assert.Equal(t, []string{found.Omitted}, found.Notes)

	found, err = within(t.Context(), trace, 1_000_000_000)
	require.NoError(t, err)
	require.NotNil(t, found.Program)
	assert.Empty(t, found.Omitted)
	assert.Empty(t, found.Notes)
	assert.Positive(t, found.Program.Calls)
}

// The same number of steps is enough, or too few, each time.
func TestLimitIsDeterministic(t *testing.T) {
	trace := irregular(t, 3, 300)
	enough := func(steps int) bool {
		_, err := program.Analyze(t.Context(), trace, program.Options{MaxLines: program.MaxShown, MaxSteps: steps})
		if err != nil {
			require.ErrorIs(t, err, program.ErrTooIrregular)
		}
		return err == nil
	}
	few, many := 1, 1<<30
	require.True(t, enough(many))
	for many-few > 1 {
		if middle := (few + many) / 2; enough(middle) {
			many = middle
		} else {
			few = middle
		}
	}
	for range 3 {
		assert.True(t, enough(many))
		assert.False(t, enough(few))
	}
}
