package recorder

import (
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/trace"
)

// sampleNow reads the three clocks of a sample now; false when the clock of the records cannot be read here.
func sampleNow(kind string) (trace.ClockSample, bool) {
	s := trace.ClockSample{MonotonicNS: clockNS(unix.CLOCK_MONOTONIC)}
	switch {
	case kind == "monotonic":
		s.Ticks = s.MonotonicNS
	case kind == "tsc" && hasTimeStampCounter:
		s.Ticks = timeStampCounter()
	default:
		return trace.ClockSample{}, false
	}
	s.RealtimeNS = clockNS(unix.CLOCK_REALTIME)
	return s, true
}

func clockNS(id int32) int64 {
	var t unix.Timespec
	if unix.ClockGettime(id, &t) != nil {
		return 0
	}
	return t.Nano()
}
