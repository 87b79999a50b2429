//go:build otf2

package export

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An archive is complete or does not exist, and ranks without times of their own are not exported.
func TestOTF2OfTheCommand(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, more := range map[string][]string{"whole": nil, "sums": {"--timing", "aggregated"}} {
		_, err := execute(t, append([]string{"simulate", "--pattern", "stencil2d", "--ranks", "16", "-o", at(name)}, more...)...)
		require.NoError(t, err)
	}
	_, err := execute(t, "reduce", at("whole"), "--leads", "-o", at("reduced"))
	require.NoError(t, err)
	export := func(file, out string, more ...string) (string, error) {
		return execute(t, append([]string{"export", at(file), "--format", "otf2", "-o", at(out)}, more...)...)
	}

	said, err := export("whole", "archive")
	require.NoError(t, err)
	assert.Contains(t, said, "1168 calls, 480 messages, 16 collective")
	assert.FileExists(t, at("archive/traces.otf2"))
	_, err = export("whole", "archive")
	assert.ErrorContains(t, err, "is not empty")

	said, err = export("whole", "leads", "--leads")
	require.NoError(t, err)
	assert.Contains(t, said, "the other side is not exported")
	reduced, err := export("reduced", "reduced.otf2")
	require.NoError(t, err)
	assert.Contains(t, reduced, "calls")
	_, err = export("reduced", "more", "--ranks", "0-15")
	assert.ErrorContains(t, err, "has no times of its own")

	_, err = export("sums", "none")
	assert.ErrorContains(t, err, "trace with timing lossless or lossy")
	_, err = export("whole", "none", "--from", "100")
	assert.ErrorContains(t, err, "made no call in this part")
	_, err = export("whole", "none", "--ranks", "0", "--leads")
	assert.ErrorContains(t, err, "--ranks and --leads")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, one := range left {
		assert.NotContains(t, one.Name(), "none")
		assert.NotContains(t, one.Name(), "partial")
	}
}
