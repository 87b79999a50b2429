package trace_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/trace"
)

// Bins cover all intervals without a gap: each begins where BinStart says, and the one before ends there.
func TestBins(t *testing.T) {
	last := trace.BinOf(math.MaxInt64)
	for bin := range last + 1 {
		start := trace.BinStart(bin)
		assert.Equal(t, bin, trace.BinOf(start))
		if bin > 0 {
			assert.Equal(t, bin-1, trace.BinOf(start-1))
		}
	}
	assert.Zero(t, trace.BinOf(-5))
	assert.EqualValues(t, math.MaxInt64, trace.BinStart(last+1))
}
