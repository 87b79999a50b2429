package criticalpath_test

import (
	"github.com/cairn-mpi/cairn/trace/timing"
)

// samples returns two simultaneous readings of both clocks.
func samples(monotonic, realtime int64) []timing.ClockSample {
	const later = 200_000_000
	return []timing.ClockSample{
		{Ticks: monotonic, MonotonicNS: monotonic, RealtimeNS: realtime},
		{Ticks: monotonic + later, MonotonicNS: monotonic + later, RealtimeNS: realtime + later},
	}
}
