package replay

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/setup"
)

// The environment determines which MPI started a rank, and its number.
func TestStartedBy(t *testing.T) {
	for _, c := range []struct {
		environment map[string]string
		abi         setup.ABI
		rank        int
	}{
		{map[string]string{"OMPI_COMM_WORLD_RANK": "3"}, setup.OpenMPI, 3},
		{map[string]string{"PMI_RANK": "0", "PMI_SIZE": "4"}, setup.MPICH, 0},
		{map[string]string{"OMPI_COMM_WORLD_RANK": "1", "PMI_RANK": "7"}, setup.OpenMPI, 1},
	} {
		abi, rank, err := startedBy(func(name string) string { return c.environment[name] })
		require.NoError(t, err)
		assert.Equal(t, c.abi, abi)
		assert.Equal(t, c.rank, rank)
	}
	_, _, err := startedBy(func(string) string { return "" })
	assert.ErrorContains(t, err, "mpirun of Open MPI or MPICH must start this command")
	_, _, err = startedBy(func(string) string { return "x" })
	assert.ErrorContains(t, err, `OMPI_COMM_WORLD_RANK is "x", not a rank`)
}
