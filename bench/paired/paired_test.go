package paired_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/bench/paired"
)

func TestRatio(t *testing.T) {
	ratio, lower, upper := paired.Ratio([]paired.Pair{{1, 1.02}, {2, 2.2}, {1, 0.98}, {3, 3.1}})
	assert.InDelta(t, 7.3/7, ratio, 1e-9)
	assert.Less(t, lower, ratio)
	assert.Greater(t, upper, ratio)
	_, lower, upper = paired.Ratio([]paired.Pair{{1, 2}, {2, 4}})
	assert.Equal(t, []float64{2, 2}, []float64{lower, upper})
}
