package tables

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/traffic"
	"github.com/cairn-mpi/cairn/internal/repository"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// runPython runs a script of testdata with Debian's Python, for which Debian's pandas is made.
// DuckDB's command reads the files: Debian has neither pyarrow nor fastparquet.
func runPython(t *testing.T, environment []string, arguments ...string) []byte {
	t.Helper()
	command := exec.Command("/usr/bin/python3", arguments...)
	command.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(repository.Root(), "python"), "PYTHONDONTWRITEBYTECODE=1",
		"PATH="+filepath.Dir(duckdb(t))+":"+os.Getenv("PATH"), "HOME="+t.TempDir())
	command.Env = append(command.Env, environment...)
	out, err := command.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		require.NoError(t, err, "%s\n`hack/install.sh readers` installs python3-pandas, python3-nbclient and python3-ipykernel", failed.Stderr)
	}
	require.NoError(t, err)
	return out
}

// slow is a program of which one rank keeps the others waiting.
var slow = simulate.Config{Pattern: "stencil2d", Ranks: 4, Imbalance: simulate.Imbalance{SlowRank: 1, SlowPercent: 50}}

func TestDataFrames(t *testing.T) {
	r := tracetest.Open(t, tracetest.Simulated(t, slow))
	dir := export(t, r)
	var frames struct {
		Rows, Calls     map[string]int
		Bytes, Messages [][]uint64
		WaitingNS       int64 `json:"waiting_ns"`
		OfCalls         int64 `json:"waiting_ns_of_calls"`
		Exact           bool
		Members         []int
		Types           map[string]string
	}
	require.NoError(t, json.Unmarshal(runPython(t, nil, "testdata/frames.py", dir), &frames))
	calls := map[string]int{}
	for _, th := range r.Threads().All() {
		c, err := r.Cursor(th.Rank, th.Thread)
		require.NoError(t, err)
		for c.Next() {
			calls[c.Event().Function.Name]++
		}
	}
	assert.Equal(t, calls, frames.Calls)
	assert.EqualValues(t, r.Threads().Calls(), frames.Rows["calls"])
	matrix, err := traffic.Matrix(r)
	require.NoError(t, err)
	for _, m := range matrix {
		assert.Equal(t, m.Bytes, frames.Bytes[m.Source][m.Dest])
		assert.Equal(t, m.Messages, frames.Messages[m.Source][m.Dest])
	}
	assert.Positive(t, frames.WaitingNS)
	assert.Equal(t, frames.WaitingNS, frames.OfCalls)
	assert.True(t, frames.Exact)
	assert.Equal(t, []int{0, 1, 2, 3}, frames.Members)
	assert.Equal(t, "Int64", frames.Types["enter_ns"])
	assert.Equal(t, "Int32", frames.Types["peer"])
	assert.Equal(t, "string", frames.Types["function"])
}

// The notebook runs from its first cell to its last.
func TestNotebook(t *testing.T) {
	dir := export(t, tracetest.Open(t, tracetest.Simulated(t, slow)))
	out := string(runPython(t, []string{"CAIRN_TABLES=" + dir}, "testdata/notebook.py",
		filepath.Join(repository.Root(), "python", "examples", "first-look.ipynb")))
	assert.Contains(t, out, "MPI_Waitall")
	assert.Contains(t, out, "Waiting for ranks that compute longer")
	assert.Contains(t, out, "cause_call_site")
}
