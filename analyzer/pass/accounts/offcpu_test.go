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

// Twenty of 399 instances of 5 ms were measured, a fifth of each without a CPU, and one of 2 s, in
// which the rank was blocked: run delay is that of the 5 ms, and only the long one is blocked.
func TestLongInstancesStandForThemselves(t *testing.T) {
	long := OffCPU{Wall: 2e9, Blocked: 2e9, Others: -1, Usage: trace.UnknownUsage}
	o := OffCPU{count: 21, Wall: 2e9 + 1e8, cpu: 8e7, Delayed: 2e7, Blocked: 2e9, Usage: trace.Usage{MinorFaults: 20}}
	tally := Tally{Count: 399, Ns: 398*5e6 + 2e9}
	for range 398 {
		tally.Spread.add(5e6)
	}
	tally.Spread.add(2e9)
	require.True(t, o.extrapolateApart(&tally, []OffCPU{long, {Wall: 6e6, Delayed: 6e6}}))
	require.InEpsilon(t, 398e6, float64(o.Delayed), 1e-6)
	require.EqualValues(t, 2e9, o.Blocked)
	require.InEpsilon(t, 398, float64(o.MinorFaults), 0.01)
	require.InEpsilon(t, float64(tally.Ns), float64(o.Wall), 1e-6)
	require.EqualValues(t, -1, long.Others)
}
