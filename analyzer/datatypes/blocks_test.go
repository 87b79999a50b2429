package datatypes

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The number of pieces is known from how a type is made, whatever the bounds of its elements.
func TestBlocks(t *testing.T) {
	float, _ := basic("MPI_FLOAT")
	four := vector(4, 1, 12, &float)
	for name, c := range map[string]struct {
		of   *Type
		n    int64
		want int64
	}{
		"predefined":         {&float, 1000, 1},
		"contiguous":         {derived(false, run(0, 7, &float)), 3, 1},
		"vector":             {four, 1, 4},
		"several vectors":    {four, 5, 20},
		"a dense vector":     {vector(4, 3, 12, &float), 1, 1},
		"columns":            {vector(4, 2, 12, &float), 1, 4},
		"adjacent runs":      {derived(false, run(0, 2, &float), run(8, 3, &float), run(32, 1, &float)), 1, 2},
		"in another order":   {derived(false, run(8, 2, &float), run(0, 2, &float)), 1, 2},
		"runs after a hole":  {derived(true, run(0, 1, &float), part{8, 2, 48, four}), 1, 9},
		"resized":            {float.bounded(0, 16), 3, 3},
		"resized, only once": {float.bounded(0, 16), 1, 1},
		"nothing":            {derived(false, run(0, 0, &float)), 2, 0},
	} {
		assert.Equal(t, c.want, c.of.BlocksOf(c.n), name)
	}
}
