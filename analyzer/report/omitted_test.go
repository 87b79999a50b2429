package report_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/analyses/program"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// An analysis that was left out is named, with what to do, in the output of the command, the
// summary, the page and the data.
func TestLeftOutByName(t *testing.T) {
	const why = "The analysis program is left out: cairn program TRACE has all of it."
	raw, err := json.Marshal(program.Findings{Omitted: why, Notes: []string{why}})
	require.NoError(t, err)
	raw = append([]byte(`{"schema_version":1,`), raw[1:]...)
	b := tracetest.New(2)
	b.Rank(0).Init(0, 1).Finalize(2, 3)
	b.Rank(1).Init(0, 1).Finalize(2, 3)
	r := analyzer.Report(b.Open(t), map[string][]byte{"program": raw}, report.Job{Asked: []string{"program"}})
	assert.Contains(t, r.Summary(), why)
	files, err := r.Files()
	require.NoError(t, err)
	for _, name := range []string{"index.html", "report.json", "summary.txt"} {
		assert.Contains(t, string(files[name]), "The analysis program is left out", name)
	}
	again, err := analyzer.ReadReport(files["report.json"])
	require.NoError(t, err)
	assert.Contains(t, again.Summary(), why)
}
