package mpi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The names are those of mpi.h.
func TestErrorClasses(t *testing.T) {
	abis := map[string]string{"MPICH": "mpich", "Open MPI": "openmpi"}
	forEachImplementation(t, func(t *testing.T, mpi *implementation) {
		var source strings.Builder
		abi := abis[mpi.name]
		for value := range errorClasses[abi] {
			if name := ErrorClass(abi, value+1); name != "" {
				fmt.Fprintf(&source, "_Static_assert(%s == %d, \"%s\");\n", name, value+1, name)
			}
		}
		mpi.compile(t, source.String())
		require.Equal(t, "MPI_ERR_TRUNCATE", ErrorClass(abi, map[string]int{"mpich": 14, "openmpi": 15}[abi]))
	})
	require.Empty(t, ErrorClass("mpich", 54))
	require.Empty(t, ErrorClass("mpich", 0))
	require.Empty(t, ErrorClass("openmpi", 200))
	require.Empty(t, ErrorClass("other", 1))
}
