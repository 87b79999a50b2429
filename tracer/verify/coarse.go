package verify

import (
	"fmt"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Where the trace has only sums of times (trace.Coarse), a call's times must be within the error
// that it states. With lossless timing the sums of each signature over the whole range must be
// equal to those of the log.

// coarse is what is known of the calls of a thread that have only sums of times.
type coarse struct {
	ranges []trace.Coarse // those that are not compared to their ends, in order
	sums   map[int32]*bothSums
}

// bothSums are sums over the calls of a signature, of the log and of the trace.
type bothSums struct{ logged, traced intervals }

type intervals struct{ gaps, durations int64 }

// at reports whether call number n of the thread has only sums.
func (k *coarse) at(n uint64) bool {
	return len(k.ranges) > 0 && n >= k.ranges[0].From && n < k.ranges[0].To
}

// add adds a call.
func (k *coarse) add(terminal int32, logged, traced intervals) {
	if k.sums == nil {
		k.sums = map[int32]*bothSums{}
	}
	s := k.sums[terminal]
	if s == nil {
		s = &bothSums{}
		k.sums[terminal] = s
	}
	s.logged.gaps, s.logged.durations = s.logged.gaps+logged.gaps, s.logged.durations+logged.durations
	s.traced.gaps, s.traced.durations = s.traced.gaps+traced.gaps, s.traced.durations+traced.durations
}

// end compares the sums at the end of a range; "" if they agree.
func (k *coarse) end(exact bool) (reason string) {
	for terminal, s := range k.sums {
		if exact && s.logged != s.traced {
			reason = fmt.Sprintf("the calls %d to %d of signature %d have the sums %+v and not %+v", k.ranges[0].From, k.ranges[0].To-1, terminal, s.traced, s.logged)
		}
	}
	k.ranges, k.sums = k.ranges[1:], nil
	return reason
}

// compareCoarse compares the times of call number n, which has only sums.
func (t *threadTimes) compareCoarse(s *timing.Settings, n uint64, c *loggedCall, e *trace.Event, logged, traced intervals) string {
	if off := apart(t.clock.Nanoseconds(c.enter), e.Enter); !t.partial && off > e.EnterError {
		return fmt.Sprintf("it began %d ns from where it is, within %d", off, e.EnterError)
	}
	if off := apart(t.clock.Nanoseconds(c.exit), e.Exit); !t.partial && off > e.ExitError {
		return fmt.Sprintf("it ended %d ns from where it is, within %d", off, e.ExitError)
	}
	t.coarse.add(e.Terminal, logged, traced)
	if n+1 < t.coarse.ranges[0].To {
		return ""
	}
	return t.coarse.end(s.Mode == timing.Lossless && !t.partial)
}
