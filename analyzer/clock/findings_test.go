package clock_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// clocks is a late-sender pattern on two nodes whose clocks differ by ahead units; both directions
// are bounded by messages. On a common clock: rank 1 waits 10 → 50 for rank 0, and rank 0 waits 60
// → 70 for the answer.
func clocks(ahead, realtime float64) *tracetest.Builder {
	b := tracetest.New(2)
	b.Rank(0).Init(0, 5).Send(50, 51, 1).Recv(60, 72, 1, 8).Finalize(95, 100)
	b.Rank(1).Shift(ahead).Init(0, 5).Recv(10, 52, 0, 8).Send(70, 71, 0).Finalize(80, 85)
	other := b.Rank(1).Info()
	other.BootID, other.Host = "boot1", "host1"
	at := func(units float64) int64 { return int64(units * tracetest.Unit) }
	// two simultaneous readings of both clocks
	samples := func(monotonic, realtime int64) []timing.ClockSample {
		const later = 200_000_000
		return []timing.ClockSample{
			{Ticks: monotonic, MonotonicNS: monotonic, RealtimeNS: realtime},
			{Ticks: monotonic + later, MonotonicNS: monotonic + later, RealtimeNS: realtime + later},
		}
	}
	b.Rank(0).Info().Clock.Samples = samples(0, at(1000))
	other.Clock.Samples = samples(at(ahead), at(1000+realtime))
	return b
}

// TestClockOffsetFromWallClock: monotonic clocks of nodes count from boot; the wall clocks
// determine the offset.
func TestClockOffsetFromWallClock(t *testing.T) {
	for _, ahead := range []float64{0, 5000, -700} {
		f := analyzertest.Built(t, clocks(ahead, 0))
		assert.Equal(t, map[string]float64{"late sender": 50}, f.Waited())
		assert.InDelta(t, 0.100, f.RunSeconds, 1e-9)
		require.Len(t, f.Clock.Domains, 2)
		assert.InDelta(t, -ahead/1000, f.Clock.Domains[1].OffsetSeconds, 1e-9)
		// Rank 0's send began at 50 and was received by 52; rank 1's began at 70 and was received
		// by 72: the offset is known to ±2.
		assert.InDelta(t, 0.002, *f.Clock.ErrorSeconds, 1e-9)
	}
}

// TestClockOffsetFromMessages: the other node's wall clock is 30 behind, so that rank 1 would
// receive at 22 what rank 0 sent at 50. By the messages its offset is between −2 and +2 of the
// truth; the value nearest to the guess is used.
func TestClockOffsetFromMessages(t *testing.T) {
	f := analyzertest.Built(t, clocks(5000, -30))
	assert.Zero(t, f.Clock.Violations)
	require.Len(t, f.Clock.Domains, 2)
	assert.InDelta(t, -5.030, f.Clock.Domains[1].GuessSeconds, 1e-9)
	assert.InDelta(t, -5.000, f.Clock.Domains[1].OffsetSeconds, 0.0021)
	assert.InDelta(t, 48, f.Waited()["late sender"], 4.1)
}

// TestClockThatDrifts: no offset and rate satisfies all messages; the clock is moved forward where
// necessary, which is reported, and no effect precedes its cause.
func TestClockThatDrifts(t *testing.T) {
	b := tracetest.New(2)
	r0, r1 := b.Rank(0).Init(0, 5), b.Rank(1).Init(0, 5)
	for k := range 5 {
		at := float64(20 + 20*k)
		r0.Send(at, at+1, 1).Recv(at+2, at+6, 1, 8)
		r1.Shift(float64(3*k)).Recv(at-2, at+2, 0, 8).Send(at+4, at+5, 0) // gains 3 in each round
	}
	r0.Finalize(150, 160)
	r1.Finalize(150, 160)
	r1.Info().BootID = "boot1"
	f := analyzertest.Built(t, b)
	assert.Zero(t, f.Clock.Violations)
	assert.Positive(t, f.Clock.Steps)
	assert.LessOrEqual(t, f.Clock.LargestStepSeconds, 0.012)
}
