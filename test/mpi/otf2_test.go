//go:build mpi

package mpi

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// TestOTF2 exports what real programs did, with call paths, and has OTF2's own readers compare the
// archive with the calls: counts per function, messages and bytes of each pair, collective,
// one-sided and file operations, order of times.
func TestOTF2(t *testing.T) {
	t.Parallel()
	require.FileExists(t, filepath.Join(shimtest.Root(), "bin", "cairn-otf2"), "`make bin/cairn-otf2` makes it")
	for implementation, programs := range map[string][]string{
		"openmpi": {"collectives", "rma", "io", "split", "threads"},
		"mpich":   {"requests", "topology", "persistent", "datatypes", "attributes"},
	} {
		for _, program := range programs {
			t.Run(implementation+"/"+program, func(t *testing.T) {
				r := trace(t, []string{"--call-sites", "path"}, launch(implementation, 4, program)...)
				require.Equal(t, 0, r.code, r.stderr)
				file, archive := filepath.Join(r.dir, "trace.cairn"), filepath.Join(r.dir, "otf2")
				said := cairn(t, "", "export", file, "--format", "otf2", "-o", archive)
				require.Equal(t, 0, said.code, said.stderr)
				dump := filepath.Join(r.dir, "dump.json")
				require.NoError(t, os.WriteFile(dump, []byte(cairn(t, "", "dump", "--json", file).stdout), 0o600))

				anchor := filepath.Join(archive, "traces.otf2")
				out, err := exec.Command("otf2-print", "-Werror", "--silent", anchor).CombinedOutput()
				assert.NoError(t, err, "%s", out)
				out, err = exec.Command(python, filepath.Join(shimtest.Root(), "analyzer/export/otf2/library/testdata/check.py"), anchor, dump).CombinedOutput()
				assert.NoError(t, err, "%s", out)
				t.Logf("%s", out)
			})
		}
	}
}
