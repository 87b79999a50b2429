package commands_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cairntest"
)

// Every command, for a trace with only sums of times: it prints what sums determine, or how to
// trace instead, and never a time that is not known.
func TestCommandsOnSums(t *testing.T) {
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "trace.cairn"), filepath.Join(dir, "report")
	_, err := cairntest.Run(t, "simulate", "--pattern", "stencil2d", "--ranks", "16", "--iterations", "100", "--slow-rank", "5", "--slow-percent", "60", "--ranks-per-node", "3", "--timing", "aggregated", "-o", file)
	require.NoError(t, err)

	// 100 times 0.1 ms, of rank 5 0.16 ms: load balance is (15 + 1.6) / 16 / 1.6 = 65%
	printed, err := cairntest.Run(t, "analyze", file, "-o", folder)
	require.NoError(t, err)
	assert.Contains(t, printed, "load balance 65%")
	assert.Contains(t, printed, "Rank 5")
	printed, err = cairntest.Run(t, "report", folder)
	require.NoError(t, err)
	assert.Contains(t, printed, "65%    Load balance")
	assert.Contains(t, printed, "not known      Transfer")
	assert.NotContains(t, printed, " 0%")
	page, err := os.ReadFile(filepath.Join(folder, "index.html"))
	require.NoError(t, err)
	assert.Contains(t, string(page), "not known")
	for _, section := range []string{"Critical path", "Wait states", "Timeline", "What if", "Phases"} {
		assert.NotContains(t, string(page), ">"+section+"</h2>")
	}
	assert.Contains(t, string(page), ">Ranks</h2>")

	printed, err = cairntest.Run(t, "dump", file, "--rank", "3")
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(printed, "3.0              -            -  MPI_Init("), printed[:60])
	printed, err = cairntest.Run(t, "dump", file, "--rank", "3", "--json")
	require.NoError(t, err)
	var call map[string]any
	line, _, _ := strings.Cut(printed, "\n")
	require.NoError(t, json.Unmarshal([]byte(line), &call))
	for _, key := range []string{"start_ns", "duration_ns"} {
		value, there := call[key]
		assert.True(t, there, key)
		assert.Nil(t, value, key)
	}

	out := filepath.Join(dir, "out")
	for _, command := range [][]string{
		{"predict", file, "--ideal-network"}, {"export", file, "-o", out}, {"graph", file, "--from", "0", "--to", "1"},
		{"reduce", file, "--leads", "-o", out}, {"compare", file, file}, {"analyze", file, "-o", out, "--from", "0", "--to", "1"},
	} {
		printed, err := cairntest.Run(t, command...)
		assert.ErrorContains(t, err, "the times of single calls were not kept (timing aggregated)", "%v", command)
		assert.Empty(t, printed, "%v", command)
		_, err = os.Stat(out)
		assert.ErrorIs(t, err, os.ErrNotExist, "%v", command)
	}
	for _, command := range [][]string{{"info", file}, {"clusters", file}, {"program", file}, {"placement", file}} {
		_, err := cairntest.Run(t, command...)
		assert.NoError(t, err, "%v", command)
	}
	printed, err = cairntest.Run(t, "placement", file, "--json")
	require.NoError(t, err)
	var placement map[string]any
	require.NoError(t, json.Unmarshal([]byte(printed), &placement))
	assert.Nil(t, placement["gain"])
}
