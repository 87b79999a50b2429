package recorder

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
)

// The memory of written blocks is reused: a program that runs forever gives the garbage collector
// little to do, which would delay the compressor and finally calls of the application.
func TestMemoryOfBlocksIsUsedAgain(t *testing.T) {
	r := New(recordtest.NewShim(t).Process)
	th := r.thread(0)
	times := make([]int64, 2048)
	next := int64(0)
	checkpoint := func() {
		for range 200 {
			for i := range times {
				times[i] = next * 7919 % 20000
				next++
			}
			th.gaps.pushAlternate(times)
			th.durations.pushAlternate(times[1:])
			th.closeTimes()
		}
		for _, b := range r.full {
			r.Recycle(b)
		}
		r.full = r.full[:0]
	}
	checkpoint()
	n := testing.AllocsPerRun(20, checkpoint)
	require.LessOrEqual(t, n, 8.0, "a few for each block, and none for what is in it")
}
