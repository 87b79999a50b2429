package scaling_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/scaling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// A program has a computation for each of its growths, before an MPI_Barrier on a line of its own,
// in every iteration.
type program struct {
	growths    []growth
	iterations int
	noise      float64 // relative standard deviation of a rank's time in a run, anew for each computation
}

// A growth is how long a computation takes: base + factor·term(p), in units of a millisecond.
type growth struct {
	base, factor float64
	term         scaling.Term
}

func (g growth) at(p float64) float64 {
	if g.factor == 0 {
		return g.base
	}
	return g.base + g.factor*g.term.At(p)
}

// line is that of the MPI_Barrier after a computation.
func line(region int) string { return fmt.Sprintf("program.c:%d", 20+10*region) }

// latency of a barrier.
const latency = 0.01

// run is the trace of a run. Ranks of a run are disturbed alike: what scatters are runs.
func (p program) run(t testing.TB, ranks int, random *rand.Rand) timeline.Trace {
	t.Helper()
	work := make([]float64, len(p.growths))
	for i, g := range p.growths {
		work[i] = g.at(float64(ranks)) * max(0, 1+p.noise*random.NormFloat64())
	}
	b := tracetest.New(ranks)
	b.Ranks(func(_ int, r *tracetest.Rank) {
		now := 1.0
		r.At("program.c:10").Init(0, now)
		for range p.iterations {
			for i, w := range work {
				now += w
				r.At(line(i)).Collective("MPI_Barrier", now, now+latency)
				now += latency
			}
		}
		r.At("program.c:99").Finalize(now, now+1)
	})
	return timeline.Of(b.Open(t))
}

// runs are some of each size.
func (p program) runs(t testing.TB, sizes []int, each int, random *rand.Rand) []scaling.Recording {
	t.Helper()
	var list []scaling.Recording
	for _, ranks := range sizes {
		for i := range each {
			list = append(list, scaling.Recording{Trace: p.run(t, ranks, random), Name: fmt.Sprintf("%d.%d", ranks, i+1)})
		}
	}
	return list
}

func analyzed(t testing.TB, recordings []scaling.Recording, targets ...int) scaling.Findings {
	t.Helper()
	f, err := scaling.Analyze(context.Background(), recordings, targets)
	require.NoError(t, err)
	return f
}

// computations are the computations before the barriers, by number; those of the first iteration
// and the later ones that have other calls around them are one: that with most calls.
func computations(f *scaling.Findings, regions int) []*scaling.Region {
	list := make([]*scaling.Region, regions)
	for i := range f.Regions {
		r := &f.Regions[i]
		for k := range list {
			if r.What == "computation" && r.CallSite == line(k) && r.AfterFunction != "MPI_Init" {
				list[k] = r
			}
		}
	}
	return list
}
