package causes_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyses/efficiency"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ledger"
	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/analyses/whatif"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/blame"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// findings are those that follow from the causes.
type findings struct {
	RunSeconds float64
	Verdict    verdict.Verdict
	Efficiency efficiency.Efficiency
	WhatIf     []whatif.WhatIf
	Ledger     *verdict.Ledger
}

// milliseconds returns a row of the ledger, in ms of all ranks.
func (f *findings) milliseconds(what string) float64 {
	for _, row := range f.Ledger.Rows {
		if row.What == what {
			return float64(row.NS) / 1e6
		}
	}
	return -1
}

var ofCauses = pass.New("findings of causes", func(_ context.Context, r *pass.Run) (findings, error) {
	return findings{
		run.Analysis.Result(r).RunSeconds, blame.Pass.Result(r),
		efficiency.Analysis.Result(r).Efficiency, whatif.Analysis.Result(r).WhatIf, ledger.Analysis.Result(r).Ledger,
	}, nil
}, run.Analysis, blame.Pass, efficiency.Analysis, whatif.Analysis, ledger.Analysis)

func find(t *testing.T, c *trace.Content) findings {
	t.Helper()
	f, err := pass.Find(t.Context(), timeline.Of(tracetest.Open(t, c)), ofCauses)
	require.NoError(t, err)
	return f
}

func judged(t *testing.T, b *tracetest.Builder) verdict.Verdict {
	t.Helper()
	return find(t, b.Content()).Verdict
}

func simulated(t *testing.T, c simulate.Config) findings {
	t.Helper()
	return find(t, tracetest.Simulated(t, c))
}
