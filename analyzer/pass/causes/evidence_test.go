package causes

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
)

// measured returns eight ranks that take work(rank) before the barrier of each of 30 iterations,
// thereof delay(rank) ready to run without a CPU, as the tracer's threads measured.
func measured(work, delay func(rank int) float64) *tracetest.Builder {
	const iterations = 30
	b, longest := tracetest.New(8), 0.0
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("v.c:1").Init(0, 1)
		longest = max(longest, work(i))
	})
	b.Ranks(func(i int, r *tracetest.Rank) {
		now := 1.0
		for range iterations {
			r.At("v.c:2").Collective("MPI_Barrier", now+work(i), now+longest+0.1)
			now += longest + 0.1
		}
		r.At("v.c:3").Finalize(now, now+1)
		barrier := trace.CallSite{Function: mpi.ByName("MPI_Barrier").ID, Site: 2}
		wall, delayed := int64((iterations-1)*work(i)*tracetest.Unit), int64((iterations-1)*delay(i)*tracetest.Unit)
		r.Info().Evidence = []trace.EvidenceRow{{
			EvidenceKey: trace.EvidenceKey{After: barrier, Before: barrier},
			Count:       iterations - 1, WallNS: wall, CPUNS: wall - delayed, RunDelayNS: delayed,
		}}
	})
	return b
}

func ofOne(slow int, its, others float64) func(int) float64 {
	return func(rank int) float64 {
		if rank == slow {
			return its
		}
		return others
	}
}

// Where waits for a CPU are measured, only the time with a CPU is a rank's work: 30 times 10, or 15
// for rank 5. If rank 5 has a CPU it works longer. If it waits for one, it was preempted, and works
// longer only before the first barrier, where nothing is measured. Without that each barrier that
// follows another one, 29 of 30, comes 5 sooner. Traces hold rounded measurements.
func TestWorkWithMeasuredDelays(t *testing.T) {
	for _, c := range []struct {
		delay, work, tolerance float64
		form                   verdict.Form
	}{{0, 0.450, 1e-6, verdict.Always}, {5, 0.305, 0.001, verdict.Preempted}} {
		inSearch(t, measured(ofOne(5, 15, 10), ofOne(5, c.delay, 0)), func(f *Found) {
			for _, w := range f.evidence.Workers(outliers.ByEvidence, nil) {
				assert.InDelta(t, ofOne(5, c.work, 0.300)(w.Row), w.Useful, 0.001)
			}
			require.NotEmpty(t, f.causes)
			cause := f.causes[0].Cause
			assert.Equal(t, verdict.Excess, cause.Kind)
			assert.Equal(t, "5", cause.Ranks)
			assert.Equal(t, c.form, cause.Form)
			assert.InDelta(t, 29*0.005, *cause.GainSeconds, c.tolerance)
		})
	}
}
