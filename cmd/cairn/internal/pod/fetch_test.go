package pod_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cairntest"
)

// A trace is fetched as it is, for any user to read; what is no trace is not.
func TestFetch(t *testing.T) {
	dir := t.TempDir()
	file, to := filepath.Join(dir, "from.cairn"), filepath.Join(dir, "trace.cairn")
	_, err := cairntest.Run(t, "simulate", "--ranks", "4", "-o", file)
	require.NoError(t, err)
	said, err := cairntest.Run(t, "fetch", file, to)
	require.NoError(t, err)
	assert.Contains(t, said, "ranks")
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	got, err := os.ReadFile(to)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	about, err := os.Stat(to)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o644), about.Mode().Perm())

	other := filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, []byte("no trace"), 0o600))
	_, err = cairntest.Run(t, "fetch", other, filepath.Join(dir, "no.cairn"))
	assert.ErrorContains(t, err, other)
	assert.NoFileExists(t, filepath.Join(dir, "no.cairn"))

	_, err = cairntest.Run(t, "fetch", filepath.Join(dir, "away.cairn"), filepath.Join(dir, "no.cairn"))
	assert.ErrorContains(t, err, "away.cairn")
}
