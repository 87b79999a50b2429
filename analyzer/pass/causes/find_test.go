package causes_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyses/efficiency"
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
}

var ofCauses = pass.New("findings of causes", func(_ context.Context, r *pass.Run) (findings, error) {
	return findings{
		run.Analysis.Result(r).RunSeconds, blame.Pass.Result(r),
		efficiency.Analysis.Result(r).Efficiency, whatif.Analysis.Result(r).WhatIf,
	}, nil
}, run.Analysis, blame.Pass, efficiency.Analysis, whatif.Analysis)

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
