package verify

import (
	"fmt"

	"github.com/cairn-mpi/cairn/trace"
)

// Times are compared with windows: the log's clock was read around the call and its record, so what the trace says must lie
// within, but for the declared error of lossy timing and for what the conversion of the processor's ticks to CLOCK_MONOTONIC
// loses. That durations are not all too short is seen where it is hardly the log's own time: of the calls with a long
// window, one in twenty at least must have taken half of it. A window is also long where the processor was taken away
// between the log's clock and the tracer's, and where a segment was handed over; with small segments that is most of them,
// and the rule does not hold.
const (
	clockSlack     = 20_000    // ns
	clockDrift     = 1e-3      // of the time since the process's first call: the kernel slews its clock by up to 0.05%
	longWindow     = 1_000_000 // ns
	enoughWindows  = 20
	smallSegments  = 64 << 10 // bytes
	smallArguments = 4096     // bytes of text
)

// setLongest bounds the longest duration or gap so far, for each call of a thread.
func setLongest(calls []*loggedCall) {
	longest, before := int64(0), int64(0)
	for _, c := range calls {
		if c.from != 0 {
			if before != 0 {
				longest = max(longest, c.to-before)
			}
			longest = max(longest, c.to-c.from)
			before = c.from
		}
		c.longest = longest
	}
}

// times are what a comparison knows of the times of a rank.
type times struct {
	settings    trace.TimingSettings
	segments    int   // their bytes, 0 for the default
	first       int64 // the start of the first window
	long, short int   // windows that are long, and those of them whose call is less than half of it
}

// withTimes tells whether the trace has times of single calls.
func (t *times) withTimes() bool {
	return t.settings.Mode == trace.TimingLossless || t.settings.Mode == trace.TimingLossy
}

// compare compares the times of one call; "" if they agree.
func (t *times) compare(c *loggedCall, enter, exit int64) string {
	if !t.withTimes() || c.from == 0 {
		return ""
	}
	if t.first == 0 {
		t.first = c.from
	}
	window := c.to - c.from
	slack := int64(clockSlack + clockDrift*float64(c.to-t.first))
	most := window + window*int64(t.settings.ErrorOf(c.function))/100 + slack
	if d := exit - enter; d < 0 || d > most {
		return fmt.Sprintf("it took %d ns, and can have taken %d at most", d, most)
	}
	off := c.longest*int64(t.settings.WorstError())/100 + slack
	if enter < c.from-off || exit > c.to+off {
		return fmt.Sprintf("from %d to %d ns is not within %d to %d by %d", enter, exit, c.from, c.to, off)
	}
	// copying large arguments into the record is in the window, too
	if window >= longWindow && len(c.inRaw)+len(c.outRaw) < smallArguments {
		t.long++
		if exit-enter < window/2 {
			t.short++
		}
	}
	return ""
}

// conclude looks at all calls of the rank; "" if all is well.
func (t *times) conclude() string {
	if t.segments > 0 && t.segments <= smallSegments {
		return ""
	}
	if t.long >= enoughWindows && t.short > t.long*19/20 {
		return fmt.Sprintf("%d of the %d calls that took more than a millisecond took less than half of it", t.short, t.long)
	}
	return ""
}
