package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
	"github.com/cairn-mpi/cairn/trace"
)

func TestStealOfARankCPU(t *testing.T) {
	of := func(steal int64) *float64 {
		one := rankCPU(&trace.Rank{Context: []trace.ContextSample{{}, {MonotonicNS: 1e9, StealNS: steal}}})
		require.NotNil(t, one)
		return one.StealSeconds
	}
	assert.Equal(t, new(0.5), of(5e8))
	assert.Equal(t, new(0.0), of(0))
	assert.Nil(t, of(trace.Unknown))
}

// The report warns once of steal everywhere, and of no other.
func TestWarningOfSteal(t *testing.T) {
	r := &Report{CPUs: &criticalpath.CPUs{Machines: []criticalpath.Machine{{Name: "n0", Share: 0.3}, {Name: "n1", Share: 0.099}}}}
	assert.Empty(t, r.warnings())
	r.CPUs.StolenEverywhere = true
	require.Len(t, r.warnings(), 1)
	assert.Contains(t, r.warnings()[0], "it took at least 9% of the time")
}
