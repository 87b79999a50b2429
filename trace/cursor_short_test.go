package trace_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/trace"
)

// BenchmarkCursorsOfShortRanks reads a thousand ranks of some hundred calls each: what a cursor
// costs to set up counts.
func BenchmarkCursorsOfShortRanks(b *testing.B) {
	for _, timing := range []string{"aggregated", "lossy 5"} {
		content := file(b, simulate.Config{Pattern: "stencil2d", Ranks: 1024, Iterations: 30, Timing: timing, Imbalance: simulate.Imbalance{Noise: 20}})
		r := open(b, content)
		b.Run(timing, func(b *testing.B) {
			calls, before := 0, trace.CPUNS()
			for b.Loop() {
				for _, t := range r.Threads().All() {
					c, err := r.Cursor(t.Rank, t.Thread)
					require.NoError(b, err)
					for c.Next() {
						calls++
					}
					require.NoError(b, c.Err())
				}
			}
			b.ReportMetric(float64(trace.CPUNS()-before)/float64(calls), "cpu-ns/call")
			b.ReportMetric(float64(calls)/float64(b.N)/float64(r.Threads().Len()), "calls/rank")
		})
	}
}
