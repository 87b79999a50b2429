package clock

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// In units of a millisecond and with 5%: rank 0's longest rounded interval is the 40 before its second call (MPI_Init, the
// first, is kept as it is), rank 1's the 20; so the two may disagree by 5% of 60, 3.
func TestToleranceIsAShareOfTheLongestIntervals(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(0, 50).Send(90, 91, 1).Finalize(100, 101)
	b.Rank(1).Init(0, 50).Recv(70, 91, 0, 8).Finalize(100, 101)
	for _, c := range []struct {
		settings trace.TimingSettings
		between  int64
	}{
		{trace.TimingSettings{Mode: trace.TimingLossless}, 0},
		{trace.TimingSettings{Mode: trace.TimingLossy, ErrorPercent: 5}, 3 * tracetest.Unit},
	} {
		*b.Meta() = trace.Meta{World: "test", WorldSize: 2, Timing: c.settings}
		tr := timeline.Of(b.Open(t))
		tolerance := NewTolerance(tr)
		calls := []float64{0, 50, 90, 91}
		see := func(location int, times ...float64) {
			for i := 0; i < len(times); i += 2 {
				tolerance.See(&timeline.Record{Location: location, Enter: int64(times[i] * tracetest.Unit), Exit: int64(times[i+1] * tracetest.Unit)})
			}
		}
		see(0, calls...)
		see(1, 0, 50, 70, 70.5)
		assert.InDelta(t, c.between, tolerance.Between(0, 1), tracetest.Unit/10)
	}
}

// A clock that is 2 units ahead in every second round, as rounding by 5% of intervals of 1,000 can make it look, is left as
// it is; where nothing was rounded it has to be moved.
func TestRoundingMovesNoClock(t *testing.T) {
	ahead := func(round int) float64 { return float64(round % 2 * 2) }
	for mode, steps := range map[trace.TimingMode]bool{trace.TimingLossless: true, trace.TimingLossy: false} {
		b := pingPong(100, ahead)
		b.Meta().Timing = trace.TimingSettings{Mode: mode}
		if mode == trace.TimingLossy {
			b.Meta().Timing.ErrorPercent = 5
		}
		_, f, err := analyze(context.Background(), timeline.Of(b.Open(t)), nil)
		require.NoError(t, err)
		assert.Equal(t, steps, f.Steps > 0, "%s: %d steps", mode, f.Steps)
	}
}
