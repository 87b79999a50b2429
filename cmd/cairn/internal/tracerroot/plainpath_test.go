package tracerroot

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The path in LD_PRELOAD has only characters that the dynamic linker and launchers can handle, and
// leads to the folder.
func TestPlainPath(t *testing.T) {
	for _, name := range []string{"plain-1.0_x@y,z", "a b", "a:b", "$LIB", "q'\"", "new\nline", "ünï", "\xff", "a;b&c|*?\\"} {
		folder := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.MkdirAll(folder, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "here"), []byte(name), 0o644))
		path, remove, err := plainPath(folder)
		require.NoError(t, err)
		assert.Regexp(t, `^[A-Za-z0-9/._,@%+~-]*$`, path)
		raw, err := os.ReadFile(filepath.Join(path, "here"))
		require.NoError(t, err)
		assert.Equal(t, name, string(raw))
		remove()
		assert.FileExists(t, filepath.Join(folder, "here"))
		if path != folder {
			assert.NoDirExists(t, filepath.Dir(path))
		}
	}
}
