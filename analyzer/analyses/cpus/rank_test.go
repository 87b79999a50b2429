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

func TestPressureOfARankCPU(t *testing.T) {
	of := func(p *trace.Pressure) *RankCPU {
		one := ofRank(&trace.Rank{Context: []trace.ContextSample{{}, {MonotonicNS: 1e9}}, Pressure: p})
		require.NotNil(t, one)
		return one
	}
	one := of(&trace.Pressure{MemoryNS: 5e8, IONS: trace.Unknown, MemoryLimitHits: 7})
	assert.Equal(t, new(0.5), one.MemorySeconds)
	assert.Nil(t, one.DiskSeconds)
	assert.Equal(t, new(int64(7)), one.MemoryLimitHits)
	one = of(&trace.Pressure{MemoryNS: trace.Unknown, IONS: 0, MemoryLimitHits: trace.Unknown})
	assert.Nil(t, one.MemorySeconds)
	assert.Equal(t, new(0.0), one.DiskSeconds)
	assert.Nil(t, one.MemoryLimitHits)
	assert.Nil(t, of(nil).MemoryLimitHits)
}
