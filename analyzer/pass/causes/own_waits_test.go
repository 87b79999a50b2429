package causes

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// Rank 5 computes for 16 each time and waits for a CPU for another 14, the others compute for 10.
// If it makes system calls as often as it is preempted, or its other threads run, that is one
// cause: without it the run is 29 · 20 shorter.
func TestWaitsOfTheRanksOwnMaking(t *testing.T) {
	for name, c := range map[string]struct {
		others          float64 // CPU time of its other threads, each time
		calls, switches int64   // each time
		form            verdict.Form
	}{
		"something else runs":        {form: verdict.Preempted, switches: 3},
		"its threads run":            {form: verdict.InThread, others: 13, switches: 3},
		"a thread runs for a little": {form: verdict.Preempted, others: 2, switches: 3},
		"each write lets others run": {form: verdict.SysCalls, calls: 400, switches: 500},
		"many more writes":           {form: verdict.Preempted, calls: 9000, switches: 12},
		"few writes":                 {form: verdict.Preempted, calls: 40, switches: 500},
		"few switches":               {form: verdict.Preempted, calls: 400, switches: 3},
	} {
		b := measured(ofOne(5, 30, 10), ofOne(5, 14, 0))
		row := &b.Rank(5).Info().Evidence[0]
		n := int64(row.Count)
		row.OtherCPUNS = int64(c.others * float64(n) * tracetest.Unit)
		row.IOCalls, row.InvoluntarySwitches = n*c.calls, n*c.switches
		inSearch(t, b, func(f *Found) {
			require.NotEmpty(t, f.causes, name)
			first := f.causes[0].Cause
			assert.Equal(t, verdict.Excess, first.Kind, name)
			assert.Equal(t, "5", first.Ranks, name)
			assert.Equal(t, c.form, first.Form, name)
			if c.form == verdict.Preempted {
				return
			}
			assert.InDelta(t, 29*20/1e3, *first.GainSeconds, 0.01, name)
			assert.Len(t, f.causes, 1, name)
			if c.form == verdict.SysCalls {
				assert.InDelta(t, c.calls, first.Calls, 4, name) // traces hold rounded measurements
			}
		})
	}
}

// Rank 5 has no more work than the others, and waits for a CPU while its own threads run.
func TestOwnThreadsUseTheCPU(t *testing.T) {
	for others, form := range map[float64]verdict.Form{0: verdict.Preempted, 6: verdict.ByThreads} {
		b := measured(ofOne(5, 18, 10), ofOne(5, 8, 0))
		row := &b.Rank(5).Info().Evidence[0]
		row.OtherCPUNS = int64(others * float64(row.Count) * tracetest.Unit)
		inSearch(t, b, func(f *Found) {
			require.Len(t, f.causes, 1)
			assert.Equal(t, form, f.causes[0].Cause.Form)
			assert.InDelta(t, 29*8/1e3, *f.causes[0].Cause.GainSeconds, 0.01)
		})
	}
}
