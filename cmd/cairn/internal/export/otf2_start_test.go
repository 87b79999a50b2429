//go:build !otf2

package export

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Without the command that has OTF2's library, the error says how to get it, and nothing is
// written.
func TestOTF2NeedsItsCommand(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	file, out := filepath.Join(t.TempDir(), "trace.cairn"), filepath.Join(t.TempDir(), "out")
	_, err := execute(t, "simulate", "--ranks", "2", "-o", file)
	require.NoError(t, err)
	_, err = execute(t, "export", file, "--format", "otf2", "-o", out)
	assert.ErrorContains(t, err, "make bin/cairn-otf2")
	assert.ErrorContains(t, err, "libopen-trace-format2-dev")
	assert.NoDirExists(t, out)
}
