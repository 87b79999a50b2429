package clock

import (
	"math"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/trace/timing"
)

// readings is the number of tries for a sample.
const readings = 4

// Now samples the three clocks. It returns false if the clock of the records cannot be read
// on this machine.
func Now(kind string) (timing.ClockSample, bool) {
	monotonic := func() int64 { return clockNS(unix.CLOCK_MONOTONIC) }
	realtime := func() int64 { return clockNS(unix.CLOCK_REALTIME) }
	switch {
	case kind == "monotonic":
		return sample(monotonic, monotonic, realtime), true
	case kind == "tsc" && hasTimeStampCounter:
		return sample(timeStampCounter, monotonic, realtime), true
	}
	return timing.ClockSample{}, false
}

// sample reads the three clocks together and keeps the fastest of several tries: a preemption
// between two reads would shift every time stamp of the rank.
func sample(ticks, monotonic, realtime func() int64) (best timing.ClockSample) {
	least := int64(math.MaxInt64)
	for range readings {
		s := timing.ClockSample{Ticks: ticks(), MonotonicNS: monotonic(), RealtimeNS: realtime()}
		if took := ticks() - s.Ticks; took < least {
			least, best = took, s
		}
	}
	return best
}

func clockNS(id int32) int64 {
	var t unix.Timespec
	if unix.ClockGettime(id, &t) != nil {
		return 0
	}
	return t.Nano()
}
