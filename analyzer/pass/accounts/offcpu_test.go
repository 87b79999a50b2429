package accounts

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
)

// Usage is summed over rows and scaled to instances that were not measured; unknown stays unknown.
func TestUsageOfARegion(t *testing.T) {
	row := trace.EvidenceRow{Count: 10, WallNS: 1e9, CPUNS: 8e8, Usage: trace.Usage{MinorFaults: 7, MajorFaults: 1, VoluntarySwitches: 4, SystemNS: 3e8}}
	unknown := row
	unknown.Usage = trace.UnknownUsage
	var o OffCPU
	o.add(&row, 1)
	_, known := o.System()
	require.False(t, known, "less than a second of CPU time")
	o.add(&row, 1)
	require.True(t, o.extrapolate(&Tally{Ns: 8e9}))
	require.Equal(t, trace.Usage{MinorFaults: 56, MajorFaults: 8, VoluntarySwitches: 32, SystemNS: 24e8}, o.Usage)
	ns, known := o.System()
	require.True(t, known)
	require.EqualValues(t, 24e8, ns)
	o.add(&unknown, 0.5)
	require.Equal(t, trace.UnknownUsage, o.Usage)
}

// Two of ten instances were measured, half a second blocked each. That is a lower bound. Two of
// four stand for all, and so do five of any number.
func TestFewMeasurements(t *testing.T) {
	for name, c := range map[string]struct {
		measured, of        uint64
		wall, blocked, want int64
	}{
		"few":          {2, 10, 12e8, 1e9, 1e9},
		"half of them": {2, 4, 12e8, 1e9, 5e9},
		"five":         {5, 1000, 12e8, 1e9, 5e9},
		"most time":    {2, 10, 4e9, 1e9, 1e9},
	} {
		o := OffCPU{count: c.measured, Wall: c.wall, Blocked: c.blocked}
		require.True(t, o.extrapolate(&Tally{Count: c.of, Ns: 6e9}), name)
		require.Equal(t, c.want, o.Blocked, name)
	}
	require.False(t, new(OffCPU).extrapolate(&Tally{Count: 1, Ns: 6e9}))
}
