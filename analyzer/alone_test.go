package analyzer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/analyses"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// TestAnAnalysisAlone checks a report with the findings of a single analysis: it has the sections
// of that analysis, says that there is no verdict, and has no times that were not computed.
func TestAnAnalysisAlone(t *testing.T) {
	r := tracetest.Open(t, tracetest.Simulated(t, simulate.Config{
		Pattern: "stencil2d", Ranks: 16, Iterations: 20, RanksPerNode: 4, Imbalance: simulate.Imbalance{Noise: 20, SlowRank: 3, SlowPercent: 300},
	}))
	for _, a := range analyses.All() {
		t.Run(a.Name(), func(t *testing.T) {
			findings, _, err := analyzer.Run(t.Context(), r, nil, a.Name())
			require.NoError(t, err)
			rep := analyzer.Report(r, findings, report.Job{Asked: []string{a.Name()}})
			files, err := rep.Files()
			require.NoError(t, err)
			page, summary := string(files["index.html"]), string(files["summary.txt"])
			for _, s := range a.Describe().Sections {
				if a.Name() != "stopped" { // this run ended normally
					assert.Contains(t, page, ">"+s.Title+"</h2>")
				}
			}
			if a.Name() != "verdict" {
				assert.Contains(t, page, "There is no verdict")
			}
			assert.NotRegexp(t, `(took|takes|long|longest,|of the|ranks ·) 0 s`, page)
			assert.NotRegexp(t, `(took|:.*ranks,) 0 s`, summary)
			assert.Equal(t, findings["efficiency"] != nil, strings.Contains(page, ">Efficiency</h2>"))
			var keys map[string]any
			require.NoError(t, json.Unmarshal(files["report.json"], &keys))
			assert.Equal(t, findings["run"] != nil, keys["run_seconds"] != nil)
		})
	}
}
