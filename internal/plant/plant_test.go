package plant_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/plant"
)

// The same kind and seed give the same plant, another seed gives another one.
func TestSameSeedSamePlant(t *testing.T) {
	for i := range plant.Kinds {
		k := &plant.Kinds[i]
		for _, real := range []bool{false, true} {
			if real && !k.Real || !real && !k.HasSimulated() {
				_, err := plant.Random(k.Name, 1, real)
				assert.Error(t, err)
				continue
			}
			first, err := plant.Random(k.Name, 3, real)
			require.NoError(t, err)
			again, err := plant.Random(k.Name, 3, real)
			require.NoError(t, err)
			assert.Equal(t, first, again)
			if k.Class != plant.Failure {
				other, err := plant.Random(k.Name, 4, real)
				require.NoError(t, err)
				assert.NotEqual(t, first.String(), other.String())
			}
		}
	}
}

// Every problem has a truth, with ranks that exist. A control has none.
func TestEveryKindHasItsTruth(t *testing.T) {
	for i := range plant.Kinds {
		k := &plant.Kinds[i]
		for seed := range uint64(2) {
			p, err := plant.Random(k.Name, seed, k.Real)
			require.NoError(t, err)
			truth, err := p.Truth()
			require.NoError(t, err)
			if k.Class == plant.Control {
				assert.Empty(t, truth.Planted, p)
				continue
			}
			require.NotEmpty(t, truth.Planted, p)
			for _, one := range truth.Planted {
				assert.NotEmpty(t, one.Accepted, p)
				for _, e := range one.Accepted {
					assert.NotEmpty(t, e.Kind, p)
					assert.True(t, slices.IsSorted(e.Who), p)
					for _, rank := range e.Who {
						assert.Less(t, rank, p.Ranks, p)
					}
				}
			}
		}
	}
}

// The loss of a simulated plant is about what its severity says, as computed from the parameters
// alone. In most cases it is at least 15% of the run.
func TestLossIsWhatWasPlanted(t *testing.T) {
	much, all, seeds := 0, 0, uint64(4)
	if testing.Short() {
		seeds = 2
	}
	for _, k := range plant.Of(plant.Problem, false) {
		for seed := range seeds {
			p, err := plant.Random(k.Name, seed, false)
			require.NoError(t, err)
			truth, err := p.Truth()
			require.NoError(t, err)
			assert.Greater(t, truth.LossSeconds, 0.3*p.Severity*(truth.RunSeconds-truth.LossSeconds), p)
			assert.Less(t, truth.LossSeconds, 4*p.Severity*(truth.RunSeconds-truth.LossSeconds), p)
			for _, one := range truth.Planted {
				assert.Positive(t, one.LossSeconds, p)
			}
			all++
			if truth.Loss() >= plant.MuchLost {
				much++
			}
		}
	}
	assert.Greater(t, much, all*3/4)
}

// There are at least 18 kinds of each form, besides controls and failures.
func TestThereAreManyKinds(t *testing.T) {
	assert.GreaterOrEqual(t, len(plant.Of(plant.Problem, false)), 18)
	assert.GreaterOrEqual(t, len(plant.Of(plant.Problem, true)), 18)
}
