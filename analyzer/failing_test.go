package analyzer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyses"
	"github.com/cairn-mpi/cairn/analyzer/analyses/clusters"
	"github.com/cairn-mpi/cairn/analyzer/analyses/verdict"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// TestOneAnalysisFails: the findings of the others exist, and the report names the missing ones.
func TestOneAnalysisFails(t *testing.T) {
	broken := analysis.New("clusters", analysis.About{Version: 1}, func(context.Context, *pass.Run) (clusters.Findings, error) {
		var none []int
		return clusters.Findings{Sequences: none[0]}, nil
	})
	list := analyses.All()
	for i, a := range list {
		if a.Name() == broken.Name() {
			list[i] = broken
		}
	}
	r := tracetest.Stencil{Ranks: 4, Iterations: 20, Work: func(int, int) float64 { return 1 }}.Build().Open(t)
	findings, _, err := run(t.Context(), timeline.Of(r), nil, list)
	require.ErrorContains(t, err, "clusters: this is a bug of Cairn's")
	require.ErrorContains(t, err, "index out of range")
	require.Contains(t, findings, verdict.Name)
	rep := Report(r, findings, report.Job{})
	assert.Contains(t, rep.Notes, "The analysis of clusters has no findings.")
	reasons := Reasons(fmt.Errorf("trace.cairn: %w", errors.Join(errors.New("another"), err)))
	require.Len(t, reasons, 1)
	rep = Report(r, findings, report.Job{Failed: reasons})
	assert.Contains(t, strings.Join(rep.Notes, "\n"), "The analysis of clusters has no findings, it failed: this is a bug of Cairn's")
}
