//go:build mpi

package mpi

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// python is Debian's, for which Debian's mpi4py is made; it is linked with Open MPI.
const python = "/usr/bin/python3"

// TestMPI4Py: libmpi comes into the process with Python's module, in the module's scope or in the process's.
func TestMPI4Py(t *testing.T) {
	out, err := exec.Command(python, "-c", "import mpi4py").CombinedOutput()
	require.NoError(t, err, "`hack/install.sh base` installs python3-mpi4py: %s", out)
	for name, arguments := range map[string][]string{"local": nil, "global": {"--global"}} {
		t.Run(name, func(t *testing.T) {
			command := launch("openmpi", 4, "")
			command[len(command)-1] = python
			command = append(command, filepath.Join(root(), "examples", "mpi4py_calls.py"), "--counts")
			r := trace(t, []string{"--verify"}, append(command, arguments...)...)
			require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
			assert.Contains(t, r.stdout+r.stderr, "on 4 ranks agree with the reference log")
			traced := dumpCounts(t, filepath.Join(r.dir, "trace.cairn"))
			printed := counts(t, r.stdout)
			require.Len(t, printed, 4, r.stdout)
			for rank, calls := range printed {
				for function, n := range calls {
					assert.Equal(t, n, traced[rank][function], "%s of rank %d", function, rank)
				}
				// mpi4py's own, when it is imported and when Python ends
				assert.EqualValues(t, 1, traced[rank]["MPI_Init_thread"])
				assert.EqualValues(t, 1, traced[rank]["MPI_Finalize"])
			}
		})
	}
}
