package causes

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
)

// n ranks compute for 13 in each of 41 iterations, in an order that changes. Who is k-th is blocked
// for waits(k) besides.
func inOrder(n int, waits func(k int) float64) *tracetest.Builder {
	const iterations = 41
	random, b := rand.New(rand.NewPCG(1, 2)), tracetest.New(n)
	longest, blocked := 0.0, make([]float64, n)
	for k := range n {
		longest = max(longest, waits(k))
	}
	b.Ranks(func(_ int, r *tracetest.Rank) { r.At("l.c:1").Init(0, 1) })
	now := 1.0
	for iteration := range iterations {
		for i, k := range random.Perm(n) {
			b.Rank(i).At("l.c:2").Collective("MPI_Allreduce", now+13+waits(k), now+13+longest)
			if iteration > 0 { // a region of its own
				blocked[i] += waits(k)
			}
		}
		now += 13 + longest
	}
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("l.c:3").Finalize(now, now+1)
		reduce := trace.CallSite{Function: mpi.ByName("MPI_Allreduce").ID, Site: 2}
		r.Info().Evidence = []trace.EvidenceRow{{
			EvidenceKey: trace.EvidenceKey{After: reduce, Before: reduce}, Count: iterations - 1,
			WallNS: int64((13*(iterations-1) + blocked[i]) * tracetest.Unit), CPUNS: 13 * (iterations - 1) * tracetest.Unit,
		}}
	})
	return b
}

// Ranks do 9 of their work with a lock: each waits for those that came before. Without it, an
// iteration takes no longer than the work. If one rank sleeps instead, or waits longer than others
// work, that is no lock.
func TestRanksWaitAsForALock(t *testing.T) {
	turns := func(k int) float64 { return 9 * float64(k) }
	for name, c := range map[string]struct {
		ranks int
		waits func(k int) float64
		gain  float64 // of an iteration; 0: no lock
	}{
		"two ranks": {2, turns, 9},
		"four":      {4, turns, 27},
		"one of four sleeps": {4, func(k int) float64 {
			if k == 3 {
				return 12
			}
			return 0
		}, 0},
		"for longer than others work": {2, func(k int) float64 { return 40 * float64(k) }, 0},
	} {
		inSearch(t, inOrder(c.ranks, c.waits), func(f *Found) {
			text := f.Verdict(nil, nil, &phases.Findings{}).Text
			require.NotEmpty(t, f.causes, name+": "+text)
			first := f.causes[0].Cause
			assert.Equal(t, c.gain > 0, first.Form == verdict.Lock, name+": "+text)
			if c.gain > 0 {
				assert.Equal(t, verdict.Serialization, first.Kind, name)
				assert.InDelta(t, 40*c.gain/1000, *first.GainSeconds, 0.02, name+": "+text)
				assert.Contains(t, text, "Ranks seem to wait for each other outside MPI, one after the other, as for a lock", name)
			}
		})
	}
}
