//go:build mpi

package plants

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/plant"
	"github.com/cairn-mpi/cairn/internal/plant/examine"
)

// held are the kinds that this test checks: what `make bench-verdict` finds right under both MPIs
// must stay so.
var held = []string{"slow-rank", "blocked", "serial", "balanced"}

// TestPlants: each kind is named correctly under both MPIs. The machine may have other load: one of
// three plants must be right.
func TestPlants(t *testing.T) {
	if testing.Short() {
		t.Skip("in make test-all: test/mpi's TestVerdict asks the same of two plants")
	}
	m, err := examine.NewMachine(t.Context(), "../..")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, m.Close()) })
	for _, kind := range held {
		for _, mpi := range examine.MPIs {
			t.Run(kind+" "+mpi, func(t *testing.T) {
				for seed := range uint64(3) {
					p, err := plant.Random(kind, seed, true)
					require.NoError(t, err)
					r, err := m.Judge(t.Context(), p, mpi, "")
					require.NoError(t, err)
					if r.Cause && r.Who {
						return
					}
					t.Logf("%s\n%v\n%v", r.Command(), p, r)
				}
				t.Error("never right")
			})
		}
	}
}

// TestMended: without its problem a plant takes less time, if not always on a busy machine.
func TestMended(t *testing.T) {
	if testing.Short() {
		t.Skip("in make test-all")
	}
	m, err := examine.NewMachine(t.Context(), "../..")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, m.Close()) })
	for seed := range uint64(3) {
		p, err := plant.Random("sometimes", seed, true)
		require.NoError(t, err)
		r, err := m.Real(t.Context(), p, "mpich", "")
		require.NoError(t, err)
		if r.Truth.Loss() >= plant.MuchLost {
			return
		}
		t.Logf("%v\n%v", p, r)
	}
	t.Error("it never does")
}
