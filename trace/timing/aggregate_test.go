package timing_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/trace/timing"
)

// Bins cover all intervals without a gap: each begins where BinStart says, and the one
// before ends there.
func TestBins(t *testing.T) {
	last := timing.BinOf(math.MaxInt64)
	for bin := range last + 1 {
		start := timing.BinStart(bin)
		assert.Equal(t, bin, timing.BinOf(start))
		if bin > 0 {
			assert.Equal(t, bin-1, timing.BinOf(start-1))
		}
	}
	assert.Zero(t, timing.BinOf(-5))
	assert.EqualValues(t, math.MaxInt64, timing.BinStart(last+1))
}
