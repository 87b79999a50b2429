//go:build mpi

package mpi

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// python is Debian's, for which Debian's mpi4py is made; it is linked with Open MPI.
const python = "/usr/bin/python3"

// TestMPI4Py: libmpi is loaded with Python's module, in the module's scope or in the process's.
// Every call is recorded once: the program's calls by its own count, and all calls by the count of
// a library in front of the shim.
func TestMPI4Py(t *testing.T) {
	out, err := exec.Command(python, "-c", "import mpi4py").CombinedOutput()
	require.NoError(t, err, "`hack/install.sh base` installs python3-mpi4py: %s", out)
	program := filepath.Join(shimtest.Root(), "examples", "mpi4py_calls.py")
	run := func(t *testing.T, arguments ...string) (printed, traced map[int]map[string]uint64) {
		command := launch("openmpi", 4, "")
		command[len(command)-1] = python
		r := trace(t, []string{"--verify"}, append(append(command, program), arguments...)...)
		require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
		assert.Contains(t, r.stdout+r.stderr, "on 4 ranks agree with the reference log")
		printed = printedCounts(t, r.stdout)
		require.Len(t, printed, 4, r.stdout)
		return printed, dumpCounts(t, filepath.Join(r.dir, "trace.cairn"))
	}
	for name, arguments := range map[string][]string{"local": nil, "global": {"--global"}} {
		t.Run(name, func(t *testing.T) {
			printed, traced := run(t, append([]string{"--counts"}, arguments...)...)
			for rank, calls := range printed {
				for function, n := range calls {
					assert.Equal(t, n, traced[rank][function], "%s of rank %d", function, rank)
				}
			}
		})
		t.Run(name+", counted", func(t *testing.T) {
			without := yield
			defer func() { yield = without }()
			yield += ":" + countingLibrary(t)
			counted, traced := run(t, arguments...)
			assert.Equal(t, counted, traced)
		})
	}
}
