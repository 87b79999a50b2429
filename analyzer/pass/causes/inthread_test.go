package causes

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// teams returns eight ranks that compute with a team of threads between two barriers. each returns
// how long a thread of a rank computes. The first thread waits for the last one: in the kernel, or
// by polling, as the others do then.
func teams(size int, polls bool, each func(rank, thread int) float64) *tracetest.Builder {
	longest := func(rank int) (most float64) {
		for thread := range size {
			most = max(most, each(rank, thread))
		}
		return most
	}
	b := measured(longest, func(int) float64 { return 0 })
	b.Ranks(func(i int, r *tracetest.Rank) {
		row := &r.Info().Evidence[0]
		n := float64(row.Count) * tracetest.Unit
		row.OtherCPUNS = 0
		r.Info().PID, r.Info().Threads = 100, nil
		for thread := range size {
			ran := int64(n * each(i, thread))
			if polls {
				ran = int64(n * longest(i))
			}
			r.Info().Threads = append(r.Info().Threads, trace.ThreadUsage{TID: 100 + thread, CPUNS: ran, CallsMPI: thread == 0})
			if thread == 0 {
				row.CPUNS = ran
			} else {
				row.OtherCPUNS += ran
			}
		}
	})
	return b
}

// One thread of a rank takes longer, not always the last one. The rank is named, and that it is one
// of its threads, at every size of a team. If all of its threads have more work that is not said.
func TestOneThreadOfARank(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		size, slow, at, factor := 2+r.IntN(7), r.IntN(8), 0, 1.6+2*r.Float64()
		at = 1 + r.IntN(size-1)
		work, noise := 5+10*r.Float64(), [64]float64{}
		for i := range noise {
			noise[i] = 1 + 0.02*r.Float64()
		}
		for _, all := range []bool{false, true} {
			b := teams(size, false, func(rank, thread int) float64 {
				if rank == slow && (all || thread == at) {
					return factor * work
				}
				return work * noise[8*rank+thread]
			})
			inSearch(t, b, func(f *Found) {
				require.NotEmpty(t, f.causes)
				c := f.causes[0].Cause
				require.Equal(t, verdict.Excess, c.Kind)
				assert.Equal(t, strconv.Itoa(slow), c.Ranks)
				assert.Equal(t, !all, c.Form == verdict.InThread, "%d threads, %v times %v", size, factor, work)
				assert.Zero(t, c.BlockedSeconds)
				assert.InDelta(t, 0.029*(factor-1)*work, *c.GainSeconds, 0.08*0.029*factor*work)
				text := f.Verdict(nil, nil, &phases.Findings{}).Text
				assert.NotContains(t, text, "blocked")
			})
		}
	}
}

// Threads that poll for the slow one look like threads that all have more work: the rank is named,
// and nothing is said of one of its threads.
func TestThreadsThatPoll(t *testing.T) {
	b := teams(4, true, func(rank, thread int) float64 {
		if rank == 1 && thread == 2 {
			return 20
		}
		return 10
	})
	inSearch(t, b, func(f *Found) {
		require.NotEmpty(t, f.causes)
		c := f.causes[0].Cause
		assert.Equal(t, "1", c.Ranks)
		assert.Equal(t, verdict.Always, c.Form)
	})
}

// A rank whose first thread polls for a helper that the others do not have.
func TestAHelperThread(t *testing.T) {
	b := measured(ofOne(3, 20, 10), ofOne(0, 0, 0))
	b.Ranks(func(i int, r *tracetest.Rank) {
		row := &r.Info().Evidence[0]
		row.OtherCPUNS = int64(float64(row.Count) * ofOne(3, 12, 0)(i) * tracetest.Unit)
	})
	inSearch(t, b, func(f *Found) {
		require.NotEmpty(t, f.causes)
		assert.Equal(t, "3", f.causes[0].Cause.Ranks)
		assert.Equal(t, verdict.InThread, f.causes[0].Cause.Form)
	})
}
