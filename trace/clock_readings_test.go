package trace

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What MPI_Wtime returned counts as timing, and is read as all other values are.
func TestClockReadingsAreTimes(t *testing.T) {
	c := wtimes(t, 5000)
	r := opened(t, written(t, c))
	sizes := r.Sizes()
	require.Greater(t, sizes.Timing, int64(5000/4))
	require.Less(t, sizes.Values, sizes.Timing/4)
	got, err := r.Content()
	require.NoError(t, err)
	require.Equal(t, c.Sequences, got.Sequences)

	// a sequence that another call has too is no reading of the clock
	thread := c.Threads.At(0)
	require.True(t, clockReadings(c)[len(c.Sequences)-1])
	thread.Streams = append(thread.Streams, StreamRef{Terminal: 0, Number: 9, Sequence: int32(len(c.Sequences) - 1)})
	c.Threads.Append(thread)
	require.False(t, clockReadings(c)[len(c.Sequences)-1])
}
