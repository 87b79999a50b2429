package causes

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// Of two ranks one computes for 8 in each iteration and the other for 12, in an irregular order.
// That is work which moves, unless the ranks share CPUs: 4 of 20 are then what one of them waits
// for a CPU, while the other one has it.
func TestRanksThatTakeTurnsOnCPUs(t *testing.T) {
	for delayed, moves := range map[float64]bool{0: true, 0.3: false} {
		b := tracetest.New(2)
		b.Ranks(func(i int, r *tracetest.Rank) {
			r.At("t.c:1").Init(0, 1)
			now := 1.0
			for k := range 100 {
				work := 8.0
				if k*k/3%2 == i {
					work = 12
				}
				r.At("t.c:2").Collective("MPI_Allreduce", now+work, now+12.1)
				now += 12.1
			}
			r.At("t.c:3").Finalize(now, now+1)
			ns := func(of float64) int64 { return int64(of * (now + 1) * tracetest.Unit) }
			r.Info().Context = []trace.ContextSample{{}, {MonotonicNS: ns(1), CPUNS: ns(1 - delayed), RunDelayNS: ns(delayed) + 1}}
		})
		inSearch(t, b, func(f *Found) {
			assert.Equal(t, delayed >= 0.1, f.evidence.shared)
			require.Equal(t, moves, len(movers(f.evidence)) > 0, delayed)
			for i := range f.causes {
				assert.Equal(t, moves, f.causes[i].Cause.Kind == verdict.Imbalance, f.causes[i].What)
			}
		})
	}
}
