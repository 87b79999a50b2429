//go:build mpi

package verify

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// Calls that no symbol of the shim is part of are counted, by function and rank, as many as the
// program makes. No function of either MPI is exempt.
func TestCallsPastTheShim(t *testing.T) {
	t.Parallel()
	for i, implementation := range shimtest.Implementations {
		program := shimtest.Compile(t, implementation, "../shim/testdata/past.c", "-fPIC", "-ldl") // no copies of MPI's predefined handles
		plugin := shimtest.Compile(t, implementation, "../shim/testdata/past.c", "-DPLUGIN", "-shared", "-fPIC")
		times := 17 + i
		result, _ := compareProgram(t, implementation, 2, program, plugin, fmt.Sprint(times))
		assert.Zero(t, result.Unwatched, "functions that could not be changed")
		var found, expected []string
		for rank := range 2 {
			for _, function := range []string{"MPI_Sendrecv", "MPI_Barrier", "MPI_Allreduce", "MPI_Comm_rank", "MPI_Wtime"} {
				expected = append(expected,
					fmt.Sprintf("rank %d: %d calls of %s are not in the trace: they reached the MPI library past the tracer", rank, times, function))
			}
		}
		for _, d := range result.Disagreements {
			found = append(found, d.String())
		}
		require.ElementsMatch(t, expected, found)
		require.EqualValues(t, 2*4, result.Calls, "calls that the trace has")
	}
}
