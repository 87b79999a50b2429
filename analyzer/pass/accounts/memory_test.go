package accounts_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/delays"
	"github.com/cairn-mpi/cairn/analyzer/pass/route"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// TestMemoryDoesNotGrowWithCalls: the critical path alternates between two ranks, and the passes
// use the same memory for eight times as many calls. The limits are low here, so that both runs
// reach them: memory of the spool before it uses a file, and the records of root causes.
func TestMemoryDoesNotGrowWithCalls(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	inMemory, records := eventlog.MaxInMemory, delays.MaxRecords
	defer func() { eventlog.MaxInMemory, delays.MaxRecords = inMemory, records }()
	eventlog.MaxInMemory, delays.MaxRecords = 1<<16, 1<<10
	few, stretches := memoryOf(t, 10_000)
	many, more := memoryOf(t, 80_000)
	t.Logf("%d and %d KiB with %d and %d stretches of the path", few>>10, many>>10, stretches, more)
	require.Greater(t, more, 7*stretches)
	require.Less(t, float64(many), 1.3*float64(few))
}

// memoryOf returns the additional memory in use after the passes over two ranks that wait for each
// other, and the number of stretches of their path.
func memoryOf(t *testing.T, iterations int) (used int64, stretches int) {
	r := tracetest.Open(t, tracetest.Simulated(t, simulate.Config{
		Pattern: "butterfly", Ranks: 2, Iterations: iterations, Imbalance: simulate.Imbalance{Noise: 40}, Seed: 5,
	}))
	before := inUse()
	passes := pass.Begin(t.Context(), timeline.Of(r), accounts.Pass, delays.Pass)
	a, err := accounts.Pass.Of(t.Context(), passes)
	require.NoError(t, err)
	along, err := route.Pass.Of(t.Context(), passes)
	require.NoError(t, err)
	d, err := delays.Pass.Of(t.Context(), passes)
	require.NoError(t, err)
	pieces := accounts.OnePath(a.Each, max(1, a.Run()/1000))
	used = inUse() - before
	require.Less(t, len(pieces), along.Count)
	runtime.KeepAlive([]any{a, along, d, pieces})
	require.NoError(t, passes.Close())
	return used, along.Count
}

// inUse returns the memory in use.
func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // pools outlive one collection
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
