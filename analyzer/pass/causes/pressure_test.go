package causes

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// units is a time in ns.
func units(n float64) int64 { return int64(n * tracetest.Unit) }

// Rank 5 is blocked for 5 of 15, 29 times, where the others compute for 10. What its container
// waited for longer than the others is the reason if it explains most of that.
func TestWhatABlockedRankWaitsFor(t *testing.T) {
	const blocked = 29 * 5
	for name, test := range map[string]struct {
		own, others trace.Pressure
		bytes       int64
		want        verdict.Cause
	}{
		"memory":             {trace.Pressure{MemoryNS: units(blocked), MemoryLimitHits: 70}, trace.Pressure{}, 0, verdict.Cause{MemorySeconds: 0.145, MemoryLimitHits: 70}},
		"memory, no limit":   {trace.Pressure{MemoryNS: units(100), MemoryLimitHits: trace.Unknown}, trace.Pressure{MemoryNS: units(10)}, 0, verdict.Cause{MemorySeconds: 0.090}},
		"memory and data":    {trace.Pressure{MemoryNS: units(blocked)}, trace.Pressure{}, 1 << 24, verdict.Cause{MemorySeconds: 0.145}},
		"a little memory":    {trace.Pressure{MemoryNS: units(30), MemoryLimitHits: 70}, trace.Pressure{}, 0, verdict.Cause{}},
		"all alike":          {trace.Pressure{MemoryNS: units(blocked)}, trace.Pressure{MemoryNS: units(blocked)}, 0, verdict.Cause{}},
		"others not known":   {trace.Pressure{MemoryNS: units(blocked)}, trace.Pressure{MemoryNS: trace.Unknown}, 0, verdict.Cause{}},
		"not known":          {trace.Pressure{MemoryNS: trace.Unknown, IONS: trace.Unknown}, trace.Pressure{}, 0, verdict.Cause{}},
		"disks":              {trace.Pressure{IONS: units(blocked)}, trace.Pressure{IONS: units(20)}, 0, verdict.Cause{DiskSeconds: 0.125}},
		"data at the limit":  {trace.Pressure{IONS: units(blocked), MemoryLimitHits: 70}, trace.Pressure{}, 1 << 24, verdict.Cause{Bytes: 1 << 24, MemoryLimitHits: 70}},
		"data, and no limit": {trace.Pressure{}, trace.Pressure{}, 1 << 24, verdict.Cause{Bytes: 1 << 24}},
	} {
		t.Run(name, func(t *testing.T) {
			b := blockedThere(ofOne(5, 15, 10), ofOne(5, 5, 0))
			b.Ranks(func(rank int, r *tracetest.Rank) {
				r.Info().Pressure = &test.others
				row := &r.Info().Evidence[0]
				if row.IOBytes, row.DataNS = trace.Unknown, trace.Unknown; rank == 5 {
					r.Info().Pressure = &test.own
					if test.bytes > 0 {
						row.IOBytes, row.DataNS = test.bytes, units(blocked)
					}
				}
			})
			inSearch(t, b, func(f *Found) {
				require.NotEmpty(t, f.causes)
				c := f.causes[0].Cause
				assert.Equal(t, verdict.Excess, c.Kind)
				assert.Equal(t, "5", c.Ranks)
				assert.Equal(t, verdict.Blocked, c.Form)
				assert.InDelta(t, test.want.MemorySeconds, c.MemorySeconds, 0.002)
				assert.InDelta(t, test.want.DiskSeconds, c.DiskSeconds, 0.002)
				assert.Equal(t, test.want.MemoryLimitHits, c.MemoryLimitHits)
				assert.InDelta(t, test.want.Bytes, c.Bytes, test.want.Bytes/100)
			})
		})
	}
}

// All ranks are blocked for 8 of 10 between two barriers. If their containers waited for memory or
// for disks for most of it, that is the cause.
func TestWhatAllRanksWaitFor(t *testing.T) {
	same := func(ns float64) func(int) float64 { return func(int) float64 { return ns } }
	for kind, pressure := range map[verdict.Kind]*trace.Pressure{
		verdict.Kernel: {MemoryNS: units(29 * 7), IONS: units(29 * 7)},
		verdict.IO:     {MemoryNS: units(29), IONS: units(29 * 7)},
	} {
		b := blockedThere(same(10), same(8))
		b.Ranks(func(_ int, r *tracetest.Rank) {
			r.Info().Pressure = pressure
			r.Info().Evidence[0].IOBytes, r.Info().Evidence[0].DataNS = trace.Unknown, trace.Unknown
		})
		inSearch(t, b, func(f *Found) {
			require.Len(t, f.causes, 1)
			c := f.causes[0].Cause
			assert.Equal(t, kind, c.Kind)
			assert.Empty(t, c.Ranks)
			assert.InDelta(t, 29*0.007, c.MemorySeconds+c.DiskSeconds, 0.002)
			assert.False(t, f.causes[0].last)
		})
	}
}
