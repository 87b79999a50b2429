package trace

import (
	"errors"
	"fmt"

	"github.com/cairn-mpi/cairn/trace/timing"
)

// What the decoding of a call depends on besides the call itself, and how Seek puts it to what call by call decoding
// would have left there. Nothing else may be kept from one call to the next: who adds state adds it here, and to Seek.
//
//   - walk, next: where the grammar is. The lengths of the rules lead there (Grammar.seek).
//   - calls, per signature: how far each value stream is read, and what the lists of requests have become. It is dropped,
//     and made when the signature is next met: before says by how many calls each signature is ahead, and
//     variableCall.skip passes over their values, with the code that also reads them (slot.take).
//   - calls, elastic values: those of the communicator of the signature's last call and the caller's rank in it; made
//     again wherever these differ (substitute), so they need no restoring.
//   - comms, world: what handles of communicators stand for. Bound anew by the creating calls before (seekComms).
//   - self: the same for all calls of a thread. creations, of the rank's other threads: does not depend on where the
//     cursor is.
//   - part, until, ticks: how far the thread's timing is read, and the clock. A block of a file begins anew and says at
//     which tick; it is read up to the call (seekTime).
//   - holds, standing.standIns: lists that are gone through from the front; they start over with the block of timing.
//   - standing, the times of an interval: dropped, and loaded when a call of the interval is next met. The leads' cursors
//     stay: they go to an interval by seeking or are there.
//   - event: Next sets every field that can differ; Held, HeldTicks and TimesOf change only with timing, which sets them.
//   - place: the rank in it is set for every call that needs it.
//   - err: stays. A cursor that has failed goes nowhere any more.

// Seek goes to the call with an index on the thread, so that Next gives it; at or beyond Thread.Calls nothing follows.
// The grammar is not expanded: what comes before is counted rule by rule, and value streams are passed over.
func (c *Cursor) Seek(index uint64) bool {
	if c.err != nil {
		return false
	}
	if !c.measure() {
		return false
	}
	index = min(index, c.thread.Calls)
	c.forgetCalls()
	c.walk, c.before = c.shared.Grammar.Seek(c.thread.Root, index, c.lengths)
	c.startComms()
	if !c.seekComms(index) {
		return false
	}
	c.next = index
	return !c.timed || c.seekTime(index)
}

// measure finds the lengths of the grammar's rules, which are valid, or the trace would not have been opened.
func (c *Cursor) measure() bool {
	if c.lengths == nil {
		c.lengths, c.err = c.shared.Grammar.Lengths()
	}
	return c.err == nil
}

// SeekTime goes to the first call that ends after a time, in nanoseconds of the node's CLOCK_MONOTONIC, so that Next
// gives it; if there is none nothing follows. Of what comes before only timing is read, of a file that of the block
// with the call and of the one before. It fails for a trace without the times of calls.
func (c *Cursor) SeekTime(ns int64) bool {
	if c.err != nil {
		return false
	}
	if !c.timed {
		return c.fail(errNoTimes)
	}
	if !c.measure() {
		return false
	}
	from, err := c.blockBefore(ns)
	if err != nil {
		return c.fail(err)
	}
	walk, _ := c.shared.Grammar.Seek(c.thread.Root, from, c.lengths)
	for c.startTime(from); c.next < c.thread.Calls; c.next++ {
		if terminal, ok := walk.Next(); !ok || !c.time(terminal) {
			return false
		}
		if c.event.Exit > ns {
			break
		}
	}
	return c.Seek(c.next)
}

// blockBefore is a call before which all have ended by a time and with which a block of timing begins, the last or the
// last but one; 0 where there are no blocks, or these do not say when they begin. A block says when the last call before
// it ended. If that was made inside of another call, the other one may end later: it is in the block before.
func (c *Cursor) blockBefore(ns int64) (uint64, error) {
	file, stored := c.source.(*Reader)
	if !stored || len(c.thread.StandIns) > 0 {
		return 0, nil
	}
	first, after := uint64(0), (c.thread.Calls+timing.BlockCalls-1)/timing.BlockCalls
	for first+1 < after {
		middle := (first + after) / 2
		_, start, _, size, err := file.timingBlock(c.number, middle*timing.BlockCalls)
		if err != nil {
			return 0, fmt.Errorf("trace: timing of rank %d thread %d from call %d: %w", c.thread.Rank, c.thread.Thread, middle*timing.BlockCalls, err)
		}
		file.budget.Give(size)
		if c.clock.Nanoseconds(c.thread.FirstTick+start) <= ns {
			first = middle
		} else {
			after = middle
		}
	}
	return (max(first, 1) - 1) * timing.BlockCalls, nil
}

var errNoTimes = errors.New("the trace has no times of calls")

// seekTime goes to the timing of the call with an index. A block of a file says when it begins.
func (c *Cursor) seekTime(index uint64) bool {
	from := uint64(0)
	if _, stored := c.source.(*Reader); stored {
		from = index - index%timing.BlockCalls
	}
	walk, _ := c.shared.Grammar.Seek(c.thread.Root, from, c.lengths)
	for c.startTime(from); c.next < index; c.next++ {
		terminal, ok := walk.Next()
		if !ok || !c.time(terminal) {
			return false
		}
	}
	return true
}

// startTime goes to the timing of a call with which a block begins.
func (c *Cursor) startTime(from uint64) {
	c.leavePart()
	c.holds = c.thread.Holds
	if len(c.thread.StandIns) > 0 {
		c.standing.restart(c.thread, c.source.memory())
	}
	c.next, c.until, c.ticks = from, from, c.thread.FirstTick
	c.off.Ticks = 0
}
