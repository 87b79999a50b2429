package histogram

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace/timing"
)

// Histograms of any statistics are valid, whatever the clock: gaps can be below 0, and bins of
// ticks are not bins of nanoseconds.
func TestStatisticsOfAnyClock(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for range 2000 {
		b, want := Builder{Coarse: true}, uint64(0)
		for range 1 + random.IntN(3) {
			var s timing.IntervalStatistics
			for range 1 + random.IntN(6) {
				s.Add(random.Int64N(1<<(1+random.IntN(40))) - random.Int64N(1000))
			}
			b.AddStatistics(&s, 0.1+3*random.Float64())
			want += s.Count
		}
		h := b.Histogram()
		require.True(t, h.Valid(), "%+v", h)
		require.Equal(t, want, h.Count)
	}
}
