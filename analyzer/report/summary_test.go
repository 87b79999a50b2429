package report_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// TestSummaryForATerminal: what the page says first, in 80 columns.
func TestSummaryForATerminal(t *testing.T) {
	for name, b := range map[string]*tracetest.Builder{
		"slow":     stencil(8, 200, 5, 2.1),
		"balanced": stencil(8, 50, -1, 1),
		"empty":    tracetest.New(1),
	} {
		t.Run(name, func(t *testing.T) {
			files, err := assemble(t, b).Files()
			require.NoError(t, err)
			text := string(files["summary.txt"])
			keep(t, name, files)
			for _, line := range strings.Split(text, "\n") {
				assert.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
				assert.Equal(t, strings.TrimRight(line, " "), line)
			}
			value := "%"
			if name == "empty" { // 0 of 0 s
				value = "not known"
			}
			headings := []string{"What to do next\n1. ", "Efficiency (80% or more is good)\n", value + "  Parallel efficiency\n", value + "      Serialization\n"}
			if name == "slow" {
				headings = append(headings, "Rank 5 (pod stencil-worker-1, node node2) makes this job slow: it computes for ",
					"Waiting, all ranks together\n", "Root causes of the waiting\n", "rank 5, computation between MPI_Waitall at stencil.c:82",
					"Costliest MPI calls, all ranks together\n", "What if (the run took ")
			}
			for _, part := range headings {
				assert.Contains(t, strings.NewReplacer("\n            ", " ", "for\n", "for ").Replace(text), part)
			}
		})
	}
}
