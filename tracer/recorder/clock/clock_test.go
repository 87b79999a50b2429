package clock

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/trace/timing"
)

// TestSampleWithoutPreemption: three clocks that run alike; after the n-th time that one is read,
// the thread is preempted for a million ticks. The sample is one in which that did not happen.
func TestSampleWithoutPreemption(t *testing.T) {
	for aside := range 4 * readings {
		now, n := int64(0), 0
		read := func() int64 {
			now++
			was := now
			if n == aside {
				now += 1_000_000
			}
			n++
			return was
		}
		s := sample(read, read, read)
		assert.Equal(t, timing.ClockSample{Ticks: s.Ticks, MonotonicNS: s.Ticks + 1, RealtimeNS: s.Ticks + 2}, s, "preempted after reading %d", aside)
	}
}
