//go:build mpi

package mpi

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A folder that a run cannot be written to is refused with one line, before the command is started.
func TestRefusedBeforeTheStart(t *testing.T) {
	t.Parallel()
	const cairn = `exec "$CAIRN" run -o "$FOLDER" -- touch "$MARK"`
	for name, test := range map[string]struct{ script, says string }{
		"file":      {`touch "$FOLDER"; ` + cairn, "is a file"},
		"read-only": {`mkdir "$FOLDER"; mount -t tmpfs -o ro none "$FOLDER"; ` + cairn, "read-only file system"},
		"full":      {`mkdir "$FOLDER"; mount -t tmpfs -o size=32k none "$FOLDER"; ` + cairn, "no space left on device"},
		"user":      {`mkdir "$FOLDER"; chmod 555 "$FOLDER"; chmod 777 .; exec setpriv --reuid=65534 --clear-groups --inh-caps=-all sh -c '` + cairn + `'`, "permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here := t.TempDir()
			cmd := exec.Command("sh", "-c", "set -e; "+test.script)
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
			cmd.Dir = here
			cmd.Env = append(os.Environ(), "CAIRN="+filepath.Join(shimtest.Root(), "bin", "cairn"), "FOLDER="+filepath.Join(here, "out"), "MARK="+filepath.Join(here, "started"))
			said, err := cmd.CombinedOutput()
			require.Error(t, err)
			assert.Equal(t, 64, cmd.ProcessState.ExitCode(), "%s", said)
			assert.Equal(t, 1, strings.Count(string(said), "\n"), "%s", said)
			assert.Contains(t, string(said), test.says)
			assert.Contains(t, string(said), "name another folder with -o")
			assert.NoFileExists(t, filepath.Join(here, "started"))
		})
	}
}
