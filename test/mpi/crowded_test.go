//go:build mpi

package mpi

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// Two ranks share a CPU and exchange messages most of the time. Their calls take as long as the
// other one is without the CPU: that is not what messages cost, though these cost something, too.
// On a machine with much other load MPI may take longer to start than all that, so that nothing is
// named.
func TestMessagesOnOneCPU(t *testing.T) {
	t.Parallel()
	for _, implementation := range shimtest.Implementations {
		t.Run(implementation, func(t *testing.T) {
			t.Parallel()
			program := filepath.Join(t.TempDir(), "exchange")
			out, err := exec.Command("mpicc."+implementation, "-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-o", program, "crowded/exchange.c").CombinedOutput()
			require.NoError(t, err, "%s", out)
			command := launch(implementation, 2, "exchange")
			command[len(command)-1] = program
			oneOfThree(t, func(t testing.TB) { // other load may take the CPU of one rank only
				found := reportIn(t, filepath.Join(trace(t, nil, command...).dir, "report"))
				assert.Contains(t, []verdict.Kind{verdict.CPUs, verdict.Nobody}, found.Verdict.Blames, found.Verdict.Text)
			})
		})
	}
}
