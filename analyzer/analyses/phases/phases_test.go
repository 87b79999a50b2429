package phases_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// TestPhasesAddUp: the path in the phases and outside adds up to the run, which Built asserts; and
// each phase's and window's communication efficiency is serialization times transfer.
func TestPhasesAddUp(t *testing.T) {
	b := tracetest.Stencil{Ranks: 4, Iterations: 60, Reduce: 5, Latency: 0.5, Work: func(rank, _ int) float64 { return 2 + float64(rank)/4 }}.Build()
	f := analyzertest.Built(t, b)
	for _, p := range f.Phases.Phases {
		if p.Loop {
			assert.InDelta(t, p.Efficiency.Communication, p.Efficiency.Serialization*p.Efficiency.Transfer, 1e-9)
			// 60 iterations: the slowest rank computes 2.75 in each; on an ideal network it does
			// not wait
			assert.InDelta(t, 60*2.75e-3, p.Efficiency.IdealSeconds, 0.01*60*2.75e-3)
			assert.Greater(t, p.Path, 0.9*f.RunSeconds*f.Path.ByPhase[1].Share)
		}
	}
	for i, w := range f.Phases.Windows {
		if w.Efficiency.Parallel > 0 {
			assert.InDelta(t, w.Efficiency.Communication, w.Efficiency.Serialization*w.Efficiency.Transfer, 1e-9, "window %d", i)
			assert.LessOrEqual(t, w.Efficiency.Transfer, 1+1e-9)
		}
	}
}
