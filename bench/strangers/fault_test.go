package strangers

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func drawing(seed uint64) *Drawing {
	return &Drawing{
		Seed: seed, Classes: []Class{Evidence, Place, Crowd},
		Subjects: []Subject{{"a", "openmpi", 2}, {"b", "mpich", 2}, {"c", "openmpi", 400}, {"d", "openmpi", 1}},
	}
}

// TestCasesAreDrawnAgain: a seed and an index give the same case in any order, and other seeds give
// other ones.
func TestCasesAreDrawnAgain(t *testing.T) {
	d := drawing(5)
	first, err := d.Case(7)
	require.NoError(t, err)
	_, err = d.Case(3)
	require.NoError(t, err)
	again, err := d.Case(7)
	require.NoError(t, err)
	assert.Equal(t, first, again)
	other, err := drawing(6).Case(7)
	require.NoError(t, err)
	assert.NotEqual(t, first, other)
}

// TestEveryFaultIsDrawn: within its limits, on programs that suit its class.
func TestEveryFaultIsDrawn(t *testing.T) {
	drawn := map[[2]string]bool{}
	for index := range 2000 {
		c, err := drawing(1).Case(index)
		require.NoError(t, err)
		f, err := FaultOf(c.Class, c.Fault)
		require.NoError(t, err)
		drawn[[2]string{string(c.Class), c.Fault}] = true
		assert.True(t, c.Rank >= 0 && c.Rank < c.Ranks, c)
		assert.True(t, c.Strength >= f.Weakest && c.Strength <= f.Strongest, c)
		assert.True(t, c.Begin >= 0 && c.Begin <= latest, c)
		assert.NotEqual(t, "d", c.Program, "one rank has nobody to be compared with")
		switch c.Class {
		case Evidence:
			assert.NotEqual(t, "c", c.Program, "more ranks than cores")
		case Place:
			assert.Equal(t, placeRanks, c.Ranks)
			assert.NotEqual(t, "b", c.Program, "it is replayed under Open MPI")
		}
	}
	assert.Len(t, drawn, len(Faults))
}

func TestNothingToDrawFrom(t *testing.T) {
	for _, d := range []Drawing{
		{}, {Classes: []Class{Evidence}},
		{Classes: []Class{Evidence}, Subjects: []Subject{{"d", "openmpi", 1}}},
		{Classes: []Class{Evidence}, Subjects: []Subject{{"a", "openmpi", 2}}, Faults: []string{"latency"}},
	} {
		_, err := d.Case(0)
		assert.Error(t, err, "%+v", d)
	}
}

func TestRanksOfAHost(t *testing.T) {
	assert.Equal(t, []int{4, 5}, onHost(4))
	assert.Equal(t, []int{4, 5}, onHost(5))
}
