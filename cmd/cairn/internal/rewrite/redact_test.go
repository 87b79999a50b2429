package rewrite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cairntest"
)

// A redacted trace is one that every command reads; exports are redacted likewise.
func TestRedact(t *testing.T) {
	dir := t.TempDir()
	file, shared := filepath.Join(dir, "trace.cairn"), filepath.Join(dir, "shared.cairn")
	_, err := cairntest.Run(t, "simulate", "--pattern", "stencil2d", "--ranks", "4", "--ranks-per-node", "2", "-o", file)
	require.NoError(t, err)
	said, err := cairntest.Run(t, "redact", file, "-o", shared)
	require.NoError(t, err)
	assert.Equal(t, shared+": without paths, hosts, arguments\n", said)
	before, err := cairntest.Run(t, "predict", file, "--ideal-network")
	require.NoError(t, err)
	after, err := cairntest.Run(t, "predict", shared, "--ideal-network")
	require.NoError(t, err)
	assert.Equal(t, before, after)

	hosts := func(arguments ...string) string {
		out := filepath.Join(dir, "simgrid")
		_, err := cairntest.Run(t, append([]string{"export", file, "--format", "simgrid", "-o", out}, arguments...)...)
		require.NoError(t, err)
		list, err := os.ReadFile(filepath.Join(out, "hostfile"))
		require.NoError(t, err)
		return string(list)
	}
	assert.Equal(t, "node0\nnode0\nnode1\nnode1\n", hosts())
	assert.Equal(t, "node-1\nnode-1\nnode-2\nnode-2\n", hosts("--redact"))
	assert.Equal(t, "node0\nnode0\nnode1\nnode1\n", hosts("--redact=paths"))

	_, err = cairntest.Run(t, "export", file, "-o", "x", "--redact=names")
	assert.ErrorContains(t, err, "--redact: \"names\"")
	_, err = cairntest.Run(t, "export", file, "--format", "simgrid", "-o", "x", "--ranks", "1")
	assert.ErrorContains(t, err, "SimGrid replays whole runs")
}
