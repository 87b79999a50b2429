//go:build mpi

package verify

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A rank whose spool is nearly full, with no compressor or one that cannot follow, gives up times
// and keeps all calls. The sums are exact, and the errors that the trace states hold.
func TestRankGivesUpTimes(t *testing.T) {
	t.Parallel()
	for seed := range 4 {
		for _, implementation := range shimtest.ImplementationsOf(seed) {
			threads, ranks := 1+seed/2%2, 2-seed/2%2
			t.Run(fmt.Sprintf("%s/%d", implementation, seed), func(t *testing.T) {
				settings := map[string]any{"timing": "lossless", "verify": true, "call_sites": "caller", "segment_bytes": 64 << 10, "spool_limit_bytes": threads * 3 << 20}
				tracer := shimtest.NewTracer(t, settings)
				tracer.Alone = true
				program := shimtest.Compile(t, implementation, source("giveup.c"), "-pthread")
				r := tracer.Run(t, shimtest.Launch(implementation, ranks, program, fmt.Sprint(seed), "110000", fmt.Sprint(threads))...)
				require.Equal(t, 0, r.Code, r.Stderr)
				require.Empty(t, r.Stderr, "tracing has not stopped")
				directories := tracer.Processes(t)
				reader := open(t, directories)
				result, err := Compare(reader, directories)
				require.NoError(t, err)
				for _, d := range result.Disagreements {
					t.Error(d)
				}
				require.Equal(t, ranks, result.Ranks)
				calls, coarse := trace.CoarseCalls(reader.Coarse())
				require.Equal(t, ranks, coarse.Len())
				require.Less(t, calls, reader.Threads().Calls(), "the first calls have their times")
			})
		}
	}
}
