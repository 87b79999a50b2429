package criticalpath

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/journal"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/tracetest"
	"github.com/cairn-mpi/cairn/internal/simulate"
)

// TestMemoryDoesNotGrowWithCalls: the critical path goes from one rank to the other and back all the time, and what the
// passes hold in memory is the same for eight times as many calls. What has a limit has a low one here, which both runs
// reach: what is held before there is a file, and the records of root causes.
func TestMemoryDoesNotGrowWithCalls(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	held, records := journal.MaxHeld, maxRecords
	defer func() { journal.MaxHeld, maxRecords = held, records }()
	journal.MaxHeld, maxRecords = 1<<18, 1<<12
	few, stretches := heldFor(t, 40_000)
	many, more := heldFor(t, 320_000)
	t.Logf("%d and %d KiB with %d and %d stretches of the path", few>>10, many>>10, stretches, more)
	require.Greater(t, more, 7*stretches)
	require.Less(t, float64(many), 1.3*float64(few))
}

// heldFor is how much memory is in use after the passes over two ranks that wait for each other, more than before, and how
// many stretches their path has.
func heldFor(t *testing.T, iterations int) (held int64, stretches int) {
	r := tracetest.Open(t, tracetest.Simulated(t, simulate.Config{
		Pattern: "butterfly", Ranks: 2, Iterations: iterations, Imbalance: simulate.Imbalance{Noise: 40}, Seed: 5,
	}))
	before := inUse()
	passes := pass.Begin(t.Context(), timeline.Of(r), accountsPass, delaysPass)
	a, err := accountsPass.Of(t.Context(), passes)
	require.NoError(t, err)
	along, err := routePass.Of(t.Context(), passes)
	require.NoError(t, err)
	d, err := delaysPass.Of(t.Context(), passes)
	require.NoError(t, err)
	pieces := onePath(a.each, max(1, a.run()/1000))
	held = inUse() - before
	require.Less(t, len(pieces), along.count)
	runtime.KeepAlive([]any{a, along, d, pieces})
	require.NoError(t, passes.Close())
	return held, along.count
}

// inUse is how much memory is in use.
func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // pools outlive one collection
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
