package reexecution

import (
	"math"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// Length returns the duration of a run in ns, from when its last rank left the call that
// initialized MPI until the last one entered the call that finalized it; 0 if there are no such
// calls.
func Length(t timeline.Trace, clocks *timeline.Clocks) (int64, error) {
	begin, end := int64(math.MinInt64), int64(math.MinInt64)
	for _, l := range timeline.Locations(t) {
		c, err := t.Calls(l.Rank, l.Thread)
		if err != nil {
			return 0, err
		}
		for c.Next() { // few calls precede it
			if c.Event().Semantics.Operation == semantics.Initialize {
				begin = max(begin, clocks.Time(l.Row, c.Event().Exit))
			} else if c.Event().Semantics.IsLocalQuery() {
				continue
			}
			break
		}
		calls := t.Threads().At(threadRow(t, l)).Calls
		for tail := uint64(1); tail <= min(calls, maxTail); tail++ { // and few follow
			if !c.Seek(calls-tail) || !c.Next() {
				break
			}
			if c.Event().Semantics.Operation == semantics.Finalize {
				end = max(end, clocks.Time(l.Row, c.Event().Enter))
				break
			}
		}
		if err := c.Err(); err != nil {
			return 0, err
		}
	}
	if begin == math.MinInt64 || end < begin {
		return 0, nil
	}
	return end - begin, nil
}

// maxTail is the number of last calls of a thread that are searched for the one that finalizes MPI.
const maxTail = 64

func threadRow(t timeline.Trace, l timeline.Location) int { return t.Threads().Find(l.Rank, l.Thread) }
