package plant_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/internal/plant"
)

// Known values, from Newcombe, "Two-sided confidence intervals for the single
// proportion", 1998, Table I.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
	} {
		low, high := plant.Wilson(c.k, c.n)
		assert.InDelta(t, c.low, low, 5e-5)
		assert.InDelta(t, c.high, high, 5e-5)
	}
}

// A table counts a kind's plants that cost much, and marks what misses its target.
func TestTable(t *testing.T) {
	var table plant.Table
	slow, control := &plant.Plant{Kind: "slow-rank"}, &plant.Plant{Kind: "balanced"}
	for range 19 {
		table.Add(slow, 0.2, true, true)
	}
	table.Add(slow, 0.2, true, false)
	table.Add(slow, 0.1, false, false)
	table.Add(control, 0, true, true)
	assert.Equal(t, plant.Score{N: 20, Cause: 20, Who: 19}, table.Sum(plant.Problem, false))
	assert.Equal(t, plant.Score{N: 1, Cause: 1, Who: 1}, table.Sum(plant.Control, false))
	assert.False(t, table.Missed(), table.String())
	assert.Contains(t, table.String(), "20   20  100% [ 84–100%]    19   95% [ 76– 99%]\n")
	table.Add(control, 0, false, true)
	assert.True(t, table.Missed(), table.String())
}
