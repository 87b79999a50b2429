package analyzer

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/analyzer/tracetest"
)

// TestOneAnalysisFails: the others' findings are there, and a report that says what it lacks.
func TestOneAnalysisFails(t *testing.T) {
	whole := List
	t.Cleanup(func() { List = whole })
	List = append([]Analysis(nil), whole...)
	List[1].run = func(context.Context, *run) (any, error) {
		var none []int
		return none[0], nil
	}
	r := tracetest.Stencil{Ranks: 4, Iterations: 20, Work: func(int, int) float64 { return 1 }}.Build().Open(t)
	findings, _, err := All(t.Context(), r, nil)
	require.ErrorContains(t, err, "clusters: this is a bug of Cairn's")
	require.ErrorContains(t, err, "index out of range")
	require.Contains(t, findings, report.CriticalPath)
	rep, err := Report(r, findings, report.Job{})
	require.NoError(t, err)
	assert.Contains(t, rep.Notes, "The analysis of clusters has no findings.")
}
