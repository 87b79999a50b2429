package activity_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/analyzer/compare"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// times are the total computation and MPI of all ranks, in seconds.
type times struct{ computation, mpi float64 }

// everywhere returns the times according to the report, the phases alone, the phases of the report,
// and the comparison.
func everywhere(t *testing.T, r *trace.Reader) map[string]times {
	t.Helper()
	ctx := context.Background()
	all := map[string]times{}
	path := analyzertest.Analyze(t, timeline.Of(r))
	sum := times{}
	for _, one := range path.Ranks {
		sum.computation, sum.mpi = sum.computation+one.Computation, sum.mpi+one.MPI
	}
	all["report"] = sum
	inPhases := func(list []phases.Phase) (sum times) {
		for _, p := range list {
			sum.computation, sum.mpi = sum.computation+p.Computation, sum.mpi+p.MPI
		}
		return sum
	}
	all["phases of the report"] = inPhases(path.Phases.Phases)
	alone, err := phases.Analyze(ctx, timeline.Of(r), nil, nil)
	require.NoError(t, err)
	all["phases"] = inPhases(alone.Phases)
	f, err := compare.Compare(ctx, []compare.Recording{{Trace: timeline.Of(r)}}, []compare.Recording{{Trace: timeline.Of(r)}})
	require.NoError(t, err)
	n := float64(f.A.Ranks)
	all["comparison"] = times{n * f.A.Computation, n * f.A.MPI}
	return all
}

func assertAllSay(t *testing.T, want times, r *trace.Reader) {
	t.Helper()
	for who, got := range everywhere(t, r) {
		assert.InDelta(t, want.computation, got.computation, 1e-7, "%s: computation", who)
		assert.InDelta(t, want.mpi, got.mpi, 1e-7, "%s: MPI", who)
	}
}

// pollingPair returns two ranks that poll for a message: rank 0 sends after 10 ms, rank 1 tests 99
// times without success and once with success, 0.01 ms each time and gap ms apart. Both then
// compute 5 ms, spend 2 ms in a vote of the tracer, compute 3 ms untraced, and end. Before MPI_Init
// and after MPI_Finalize they query the MPI version.
func pollingPair(gap float64) *tracetest.Builder {
	b := tracetest.New(2)
	request := tracetest.Request(0)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("p.c:1").Call("MPI_Get_version", 0, 1, nil).At("p.c:2").Init(3, 4)
		now := 4 + 100*(gap+0.01)
		if i == 0 {
			r.At("p.c:3").Send(now-1, now, 1)
		} else {
			r.At("p.c:4").Irecv(4, 4, 0, request)
			for k := range 100 {
				at := 4 + gap + float64(k)*(gap+0.01)
				arguments := tracetest.Args{"request": request, "flag": 0}
				if k == 99 {
					arguments = tracetest.Args{"request": request, "flag": 1, "status": tracetest.Status{Source: 0, Bytes: 8}}
				}
				r.At("p.c:5").Call("MPI_Test", at, at+0.01, arguments)
			}
		}
		r.At("p.c:6").Call("MPI_Barrier", now+5, now+6, nil).
			Overhead(2).At("p.c:7").Call("MPI_Barrier", now+9, now+10, nil).
			Untraced().At("p.c:8").Finalize(now+13, now+14).
			At("p.c:9").Call("MPI_Get_version", now+16, now+17, nil)
	})
	return b
}

// TestAllAgreeOnPolling: polls 0.05 ms apart are waiting. Expected, in ms: rank 0 computes 5 (until
// it sends: 6 − 1) + 5 + 1 (3 less a vote of 2), rank 1 0.05 (before its first poll) + 5 + 1. In
// MPI rank 0 is 1 + 1 + 1 + 1 + 1, rank 1 1 + 100 × 0.01 + 99 × 0.05 + 1 + 1 + 1.
func TestAllAgreeOnPolling(t *testing.T) {
	assertAllSay(t, times{0.001 * (5 + 5 + 1 + 0.05 + 5 + 1), 0.001 * (5 + 1 + 1 + 4.95 + 3)}, pollingPair(0.05).Open(t))
}

// TestAllAgreeOnOverlap: polls 0.5 ms apart overlap with computation. Expected, in ms: the exchange
// takes 51; rank 0 computes 50 + 5 + 1, rank 1 100 × 0.5 + 5 + 1; in MPI they are 5 and 1 + 1 + 3.
func TestAllAgreeOnOverlap(t *testing.T) {
	assertAllSay(t, times{0.001 * (50 + 6 + 50 + 6), 0.001 * (5 + 5)}, pollingPair(0.5).Open(t))
}

// TestAllAgreeOnSimulatedRuns: they agree also with rounded times and skewed clocks.
func TestAllAgreeOnSimulatedRuns(t *testing.T) {
	for i, pattern := range simulate.Names() {
		for k, timing := range []string{"lossless", "lossy 5"} {
			if testing.Short() && i%2 != k {
				continue
			}
			r := tracetest.Open(t, tracetest.Simulated(t, simulate.Config{
				Pattern: pattern, Ranks: 16, Iterations: 12, RanksPerNode: 8, Skew: []time.Duration{0, 3 * time.Millisecond}, Timing: timing,
				Imbalance: simulate.Imbalance{Noise: 20, SlowRank: 3, SlowPercent: 30},
			}))
			all := everywhere(t, r)
			want := all["report"]
			require.Positive(t, want.computation)
			for who, got := range all {
				// the phases alone do not know the clock differences: at most 3 ms and
				// a rate of about 1
				assert.InEpsilon(t, want.computation, got.computation, 1e-6, "%s %s: %s", pattern, timing, who)
				assert.InEpsilon(t, want.mpi, got.mpi, 1e-6, "%s %s: %s", pattern, timing, who)
			}
		}
	}
}

// TestDifferencesAgree: the comparison of two runs that poll shows the differences of their
// reports. Expected, in ms and as means of the two ranks: computation 17.05 / 2 and 112 / 2, MPI
// 14.95 / 2 and 10 / 2.
func TestDifferencesAgree(t *testing.T) {
	a, b := pollingPair(0.05).Open(t), pollingPair(0.5).Open(t)
	f, err := compare.Compare(context.Background(), []compare.Recording{{Trace: timeline.Of(a)}}, []compare.Recording{{Trace: timeline.Of(b)}})
	require.NoError(t, err)
	assert.InDelta(t, 0.001*(112-17.05)/2, f.Computation, 1e-7)
	assert.InDelta(t, 0.001*(10-14.95)/2, f.MPI, 1e-7)
	before, after := everywhere(t, a)["report"], everywhere(t, b)["report"]
	assert.InDelta(t, (after.computation-before.computation)/2, f.Computation, 1e-9)
	assert.InDelta(t, (after.mpi-before.mpi)/2, f.MPI, 1e-9)
}
