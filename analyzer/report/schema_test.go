package report_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

const schemaFile = "../../docs/report.schema.json"

// TestSchemaIsGenerated: docs/report.schema.json is what the Go types say
// (`go generate ./analyzer/report`).
func TestSchemaIsGenerated(t *testing.T) {
	out := filepath.Join(t.TempDir(), "schema.json")
	text, err := exec.Command("go", "run", "./schemagen", "-o", out).CombinedOutput()
	require.NoError(t, err, string(text))
	want, err := os.ReadFile(out)
	require.NoError(t, err)
	have, err := os.ReadFile(schemaFile)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(have))
}

// TestReportsFollowTheSchema: those of a slow rank, of a balanced run, of a trace with nothing in
// it, and of sums.
func TestReportsFollowTheSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(schemaFile)
	require.NoError(t, err)
	early := tracetest.New(2)
	early.Rank(0).Init(0, 5).Send(20, 21, 1)
	early.Rank(1).Info().EndedEarly = "killed in MPI_Init"
	for name, b := range map[string]*tracetest.Builder{
		"slow":     stencil(8, 50, 5, 2.1),
		"balanced": stencil(4, 50, -1, 1),
		"early":    early,
		"empty":    tracetest.New(1),
	} {
		t.Run(name, func(t *testing.T) {
			follows(t, schema, assemble(t, b))
		})
	}
	t.Run("sums", func(t *testing.T) {
		opened := tracetest.Open(t, tracetest.Simulated(t, simulate.Config{Pattern: "stencil2d", Ranks: 9, Timing: "aggregated"}))
		findings, _, err := analyzer.Run(t.Context(), opened, nil)
		require.NoError(t, err)
		rep := analyzer.Report(opened, findings, report.Job{})
		follows(t, schema, rep)
	})
}

// follows checks a report's JSON against the schema.
func follows(t *testing.T, schema *jsonschema.Schema, rep *report.Report) {
	t.Helper()
	files, err := rep.Files()
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(files["report.json"]))
	require.NoError(t, err)
	assert.NoError(t, schema.Validate(value))
	// the keys that were promised from the start
	object := value.(map[string]any)
	for _, key := range []string{"schema_version", "verdict", "critical_path", "clusters"} {
		assert.Contains(t, object, key)
	}
}
