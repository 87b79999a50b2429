package examine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/plant"
	"github.com/cairn-mpi/cairn/internal/plant/examine"
)

// held are the kinds that this test checks, as a short form of `make bench-verdict`: what reaches
// its target there must stay so.
var held = []string{
	"slow-rank", "blocked", "serial", "limits", "network", "end", "balanced", "noisy", "two-ranks", "small", "pattern",
}

// TestPlants: eight plants of each kind. Of those with a large loss, at most one is named
// incorrectly.
func TestPlants(t *testing.T) {
	plants := uint64(8)
	if testing.Short() {
		plants = 3
	}
	for _, kind := range held {
		t.Run(kind, func(t *testing.T) {
			wrong := 0
			for seed := range plants {
				p, err := plant.Random(kind, seed, false)
				require.NoError(t, err)
				r, err := examine.Simulated(t.Context(), p)
				require.NoError(t, err)
				if k, _ := plant.KindOf(kind); (!r.Cause || !r.Who) && (k.Class == plant.Control || r.Truth.Loss() >= plant.MuchLost) {
					wrong++
					t.Logf("%s\n%v\n%v", r.Command(), p, r)
				}
			}
			assert.LessOrEqual(t, wrong, 1)
		})
	}
}
