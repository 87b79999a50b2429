package profile_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// TestProfileIsOfTheRun: calls before MPI_Init and after MPI_Finalize are not in the profile of a
// rank that has these; a thread without either is included with all its calls.
func TestProfileIsOfTheRun(t *testing.T) {
	b := tracetest.New(1)
	main := b.Rank(0).Call("MPI_Initialized", 0.2, 0.4, nil).Init(1, 2)
	main.Thread().Collective("MPI_Barrier", 3, 4)
	main.Finalize(9, 10).Call("MPI_Finalized", 11, 12, nil)
	calls := map[string]uint64{}
	for _, f := range analyzertest.Built(t, b).Profile.Functions {
		calls[f.Name] = f.Calls
	}
	assert.Equal(t, map[string]uint64{"MPI_Init": 1, "MPI_Barrier": 1, "MPI_Finalize": 1}, calls)
}
