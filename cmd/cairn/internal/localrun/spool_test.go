package localrun

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The spool is removed if all of it is in traces. Otherwise its path, its size and the reason are
// printed.
func TestSpoolIsNeverLeftSilently(t *testing.T) {
	for _, why := range []string{"", "there is no trace of it"} {
		f, err := newRunFolder(filepath.Join(t.TempDir(), "out"), false)
		require.NoError(t, err)
		put(t, filepath.Join(f.path, "trace.cairn"), "a trace")
		put(t, filepath.Join(f.spool(), "host-1-2", "0.seg"), "12345")
		var stderr bytes.Buffer
		Run{Stderr: &stderr}.keepSpool(f, why)
		f.leave()
		f.Close()
		assert.FileExists(t, filepath.Join(f.path, "trace.cairn"))
		if why == "" {
			assert.NoDirExists(t, f.tracer())
			assert.Empty(t, stderr.String())
			continue
		}
		assert.FileExists(t, filepath.Join(f.spool(), "host-1-2", "0.seg"))
		assert.Contains(t, stderr.String(), "(5 bytes), because there is no trace of it")
	}
}
