package simulate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/trace"
)

// TestFileWaitsAreDistinguishedFromBlocking: a rank is blocked for 20 ms in each of 60 iterations.
// It waits for files if all of these, or most of that time, moved data; not if only one of them
// did, as when a page of a library is loaded for the first time.
func TestFileWaitsAreDistinguishedFromBlocking(t *testing.T) {
	const each, iterations = 20 * time.Millisecond, 60
	for name, c := range map[string]struct {
		bytes func(k int) int
		files bool
	}{
		"each time":          {func(int) int { return 64 << 10 }, true},
		"two times of three": {func(k int) int { return k % 3 * 64 << 10 }, true},
		"never":              {func(int) int { return 0 }, false},
		"once":               {func(k int) int { return max(0, 1-k) * 10 << 20 }, false},
		"pipes":              {func(int) int { return 100 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := simulate.NewOf(simulate.Config{Pattern: "files", Ranks: 4, RanksPerNode: 4, Evidence: true}, func(r *simulate.Rank) {
				for k := range iterations {
					r.At(20).Barrier(r.World())
					r.Compute(10 * time.Millisecond)
					if r.Rank() == 2 {
						r.IO(each, c.bytes(k))
					}
				}
				r.At(30).Barrier(r.World())
			})
			require.NoError(t, err)
			cause := judgedRun(t, s, func(*trace.Rank) {}).Verdict.Causes[0]
			require.Equal(t, verdict.Blocked, cause.Form)
			require.Equal(t, "2", cause.Ranks)
			require.InDelta(t, 1.2, cause.BlockedSeconds, 0.05)
			require.Equal(t, c.files, cause.Bytes > 0, "%+v", cause)
		})
	}
}
