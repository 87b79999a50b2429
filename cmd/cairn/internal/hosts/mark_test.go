package hosts

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first run in a folder has it, also on a file system without links.
func TestFirstRunHasTheFolder(t *testing.T) {
	for name, mark := range map[string]func(*Run) error{"links": (*Run).Mark, "no links": (*Run).markWithoutLinks} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(out, tracerFolder), 0o755))
			one, other := &Run{ID: "one", Out: out}, &Run{ID: "other", Out: out}
			for _, r := range []*Run{one, other, one} {
				require.NoError(t, mark(r))
			}
			require.True(t, one.sees())
			require.False(t, other.sees())
		})
	}
}
