package verify

import (
	"fmt"
	"reflect"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Times are compared in two ways.
//
// The trace's time stamps are compared with those of the call's record, in ticks. With lossless
// timing they must be equal. With lossy timing each interval and each time stamp must be within the
// bounds that package timing states (Settings.IntervalBound, Settings.MomentLimit), without any
// further tolerance, however short the call was. With aggregated timing the statistics of the
// intervals must be equal.
//
// The record's own stamps are checked with the log's own clock, which is read around the call and
// its record: the call must be in that window, except for what the conversion of ticks to
// CLOCK_MONOTONIC loses. Durations that are systematically too short are found where the window is
// hardly longer than the call: at least one in twenty of the calls with a long window must have
// taken half of it. A window is also long if the thread was preempted between the log's clock and
// the tracer's, or if a record buffer was handed over. With small buffers that is true of most
// windows, and this rule does not apply.
const (
	clockSlack     = 20_000    // ns
	clockDrift     = 1e-3      // of the time since the process's first call: the kernel slews its clock by up to 0.05%
	longWindow     = 1_000_000 // ns
	enoughWindows  = 20
	smallBuffers   = 64 << 10 // bytes
	smallArguments = 4096     // bytes of text
)

// times is the state of the comparison of the times of a rank.
type times struct {
	settings    timing.Settings
	bufferBytes int   // size of record buffers in bytes, 0 for the default
	first       int64 // the start of the first window
	long, short int   // number of long windows, and of those whose call is less than half of it
	clock       timing.ClockMap
	coarse      []trace.Coarse // of the rank
	threads     map[int]*threadTimes
}

// threadTimes is the state of a thread, whose calls are compared in the order of their entries.
type threadTimes struct {
	calls          uint64
	broken         bool  // the log has no time stamps of the last call: the gap after it is not known
	partial        bool  // true if that was so for some call
	logged, traced int64 // exit of the last call in ticks, according to the log and to the trace
	aggregates     map[int32]*timing.Aggregate
	clock          timing.ClockMap
	coarse         coarse
}

func (t *times) thread(number int) *threadTimes {
	if t.threads == nil {
		t.threads = map[int]*threadTimes{}
	}
	if t.threads[number] == nil {
		of := &threadTimes{aggregates: map[int32]*timing.Aggregate{}, clock: t.clock}
		for _, c := range t.coarse {
			if c.Thread == number {
				of.coarse.ranges = append(of.coarse.ranges, c)
			}
		}
		t.threads[number] = of
	}
	return t.threads[number]
}

// timesOfCalls reports whether the trace has times of single calls.
func (t *times) timesOfCalls() bool {
	return t.settings.Mode == timing.Lossless || t.settings.Mode == timing.Lossy
}

// compare compares the times of one call; "" if they agree. The calls of a thread must be
// passed in order.
func (t *times) compare(c *loggedCall, e *trace.Event) string {
	thread := t.thread(c.thread)
	isCoarse := thread.coarse.at(thread.calls)
	reason := thread.compare(&t.settings, c, e)
	// extrapolated times need not be in this rank's windows
	if reason == "" && t.timesOfCalls() && e.TimesOf == e.Rank && !isCoarse {
		reason = t.window(c, e)
	}
	return reason
}

// compare compares ticks.
func (t *threadTimes) compare(s *timing.Settings, c *loggedCall, e *trace.Event) string {
	first, number := t.calls == 0, t.calls
	t.calls++
	if c.exit == 0 {
		t.broken, t.partial = true, true
		return ""
	}
	duration, gap := c.exit-c.enter, c.enter-t.logged-e.OverheadTicks
	if first {
		gap = 0
	}
	logged, traced, broken := t.logged, t.traced, t.broken
	t.logged, t.traced, t.broken = c.exit, e.ExitTicks, false
	if s.Mode == timing.Aggregated {
		t.add(e.Terminal, gap, duration)
		return ""
	}
	if s.Mode != timing.Lossless && s.Mode != timing.Lossy {
		return ""
	}
	if t.coarse.at(number) {
		now := intervals{e.EnterTicks - traced - e.OverheadTicks, e.ExitTicks - e.EnterTicks}
		if first {
			now.gaps = 0
		}
		return t.compareCoarse(s, number, c, e, intervals{gap, duration}, now)
	}
	enterLimit, exitLimit := s.MomentLimit(), s.MomentLimit()
	if e.TimesOf != e.Rank {
		return ""
	}
	if first {
		enterLimit = 0
	}
	function := e.Function.Name
	if d := e.ExitTicks - e.EnterTicks; apart(d, duration) > s.IntervalBound(function, duration) {
		return fmt.Sprintf("it took %d ticks and not %d, within %d", d, duration, s.IntervalBound(function, duration))
	}
	if d := e.EnterTicks - traced - e.OverheadTicks; !first && !broken && apart(d, gap) > s.IntervalBound(function, gap) {
		return fmt.Sprintf("it began %d ticks and not %d after the call before, within %d (which ended at %d, here at %d)",
			d, gap, s.IntervalBound(function, gap), logged, traced)
	}
	if t.partial {
		return ""
	}
	if apart(e.EnterTicks, c.enter) > enterLimit || apart(e.ExitTicks, c.exit) > exitLimit {
		return fmt.Sprintf("from tick %d to %d and not %d to %d, within %d and %d", e.EnterTicks, e.ExitTicks, c.enter, c.exit, enterLimit, exitLimit)
	}
	return ""
}

func apart(a, b int64) int64 {
	if a < b {
		return b - a
	}
	return a - b
}

// add adds a call of a signature to its statistics.
func (t *threadTimes) add(terminal int32, gap, duration int64) {
	a := t.aggregates[terminal]
	if a == nil {
		a = &timing.Aggregate{Terminal: terminal}
		t.aggregates[terminal] = a
	}
	a.Gaps.Add(gap)
	a.Durations.Add(duration)
}

// compareAggregates compares the statistics of a thread after all its calls; "" if they agree.
func (t *threadTimes) compareAggregates(traced []timing.Aggregate) string {
	if t.partial {
		return ""
	}
	if len(traced) != len(t.aggregates) {
		return fmt.Sprintf("there are times of %d signatures, and not of %d", len(traced), len(t.aggregates))
	}
	for i := range traced {
		if want := t.aggregates[traced[i].Terminal]; want == nil || !reflect.DeepEqual(*want, traced[i]) {
			return fmt.Sprintf("signature %d has the times %+v, and not %+v", traced[i].Terminal, traced[i], want)
		}
	}
	return ""
}

// window compares a call with the window that the log's own clock gave it.
func (t *times) window(c *loggedCall, e *trace.Event) string {
	if c.from == 0 {
		return ""
	}
	if t.first == 0 {
		t.first = c.from
	}
	window, duration := c.to-c.from, e.Exit-e.Enter
	slack := int64(clockSlack + clockDrift*float64(c.to-t.first))
	longest := window + t.settings.IntervalBound(c.function, window) + slack
	if duration < 0 || duration > longest {
		return fmt.Sprintf("it took %d ns, and can have taken %d at most", duration, longest)
	}
	off := t.settings.MomentLimit() + slack
	if e.Enter < c.from-off || e.Exit > c.to+off {
		return fmt.Sprintf("from %d to %d ns is not within %d to %d by %d", e.Enter, e.Exit, c.from, c.to, off)
	}
	// copying large arguments into the record is in the window, too
	if window >= longWindow && len(c.inRaw)+len(c.outRaw) < smallArguments {
		t.long++
		if duration < window/2 {
			t.short++
		}
	}
	return ""
}

// conclude checks all windows of the rank; "" if they agree.
func (t *times) conclude() string {
	if t.bufferBytes > 0 && t.bufferBytes <= smallBuffers {
		return ""
	}
	if t.long >= enoughWindows && t.short > t.long*19/20 {
		return fmt.Sprintf("%d of the %d calls that took more than a millisecond took less than half of it", t.short, t.long)
	}
	return ""
}
