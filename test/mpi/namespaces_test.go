//go:build mpi

package mpi

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// Ranks that have a PID, mount and UTS namespace each, as in containers, are one run, and all that
// is recorded of them is there.
func TestRanksInNamespacesAreOneRun(t *testing.T) {
	t.Parallel()
	for _, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			t.Parallel()
			// processes of several PID namespaces cannot map each other's memory
			command := append([]string{"env", "UCX_TLS=sysv,self", "OMPI_MCA_btl=tcp,self"}, shimtest.Launch(implementation, 3,
				"unshare", "-mupf", "--kill-child", "--mount-proc", shimtest.Example(implementation, "ring"), "--counts")...)
			r := trace(t, []string{"--verify"}, command...)
			require.Equal(t, 0, r.code, r.stderr)
			assert.Empty(t, r.stderr)
			assert.Contains(t, r.stdout, "calls on 3 ranks agree with the reference log")
			file := filepath.Join(r.dir, "trace.cairn")
			assert.Equal(t, printedCounts(t, r.stdout), dumpCounts(t, file))
		})
	}
}
