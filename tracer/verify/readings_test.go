package verify

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
)

// The result of MPI_Wtime may deviate by the error of a time stamp, and not at all without
// rounding; other results may never deviate.
func TestReadingsAreHeldToTheirBound(t *testing.T) {
	const logged = 3512.940332723
	for _, c := range []struct {
		function string
		bound    float64
		traced   float64
		agree    bool
	}{
		{"MPI_Wtime", 0, logged, true},
		{"MPI_Wtime", 0, math.Nextafter(logged, 0), false},
		{"MPI_Wtime", 22e-6, logged + 21.9e-6, true},
		{"MPI_Wtime", 22e-6, logged - 21.9e-6, true},
		{"MPI_Wtime", 22e-6, logged + 22.1e-6, false},
		{"MPI_Wtime", 22e-6, logged - 22.1e-6, false},
		{"MPI_Wtime", 22e-6, math.NaN(), false},
		{"MPI_Wtick", 22e-6, logged + 1e-9, false},
	} {
		m := newMatch(0, &process{}, nil)
		m.readings = c.bound
		compared := comparison{match: m, call: &loggedCall{function: c.function, result: int64(math.Float64bits(logged))},
			spec: mpi.ByName(c.function), name: c.function, result: trace.Value{Form: trace.Float, Int: int64(math.Float64bits(c.traced))}}
		compared.returned()
		require.Equal(t, c.agree, len(compared.disagreements) == 0, "%+v: %v", c, compared.disagreements)
	}
}
