//go:build mpi

package mpi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// analyzed is what this test wants of report.json.
type analyzed struct {
	Run  float64 `json:"run_seconds"`
	Path struct {
		Length   float64 `json:"length_seconds"`
		Segments []struct {
			Start int64 `json:"start_ns"`
			End   int64 `json:"end_ns"`
		} `json:"segments"`
	} `json:"critical_path"`
}

func readReport(t *testing.T, dir string) analyzed {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "report", "report.json"))
	require.NoError(t, err)
	var r analyzed
	require.NoError(t, json.Unmarshal(text, &r))
	return r
}

// assertPathIsTheRun: the pieces of the critical path follow each other, and add up to the run.
func assertPathIsTheRun(t *testing.T, dir string) {
	t.Helper()
	r := readReport(t, dir)
	assert.InDelta(t, r.Run, r.Path.Length, 1e-8)
	at := int64(0)
	for _, s := range r.Path.Segments {
		assert.Equal(t, at, s.Start)
		at = s.End
	}
	assert.InDelta(t, r.Run*1e9, float64(at), 10)
}
