package cpus

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
)

func TestStealOfARankCPU(t *testing.T) {
	of := func(steal int64) *float64 {
		one := ofRank(&trace.Rank{Context: []trace.ContextSample{{}, {MonotonicNS: 1e9, StealNS: steal}}})
		require.NotNil(t, one)
		return one.StealSeconds
	}
	assert.Equal(t, new(0.5), of(5e8))
	assert.Equal(t, new(0.0), of(0))
	assert.Nil(t, of(trace.Unknown))
}
