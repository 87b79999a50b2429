package causality

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// A Correction moves the begins and ends of a trace's calls so that effects come after causes.
type Correction struct {
	Repairs
	lines []line
}

// Repairs summarize what a correction moves.
type Repairs struct {
	// Repaired is the number of calls that ended before their cause. LargestNS is the largest shift
	// of an end, in nanoseconds.
	Repaired  uint64
	LargestNS int64
}

// Find computes the correction of a trace in a pass over its calls.
func Find(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks) (*Correction, error) {
	f := NewFinder(t)
	if _, err := match.InSections(ctx, t, clocks, f, nil, f.See, nil); err != nil {
		return nil, err
	}
	return f.Finish(), nil
}

// Text returns the repairs as a sentence.
func (r Repairs) Text() string {
	if r.Repaired == 0 {
		return "no time stamps had to be moved: effects come after causes"
	}
	return fmt.Sprintf("%s moved after it, by %.3g µs at most",
		wording.Count(r.Repaired, "call ended before its cause and was", "calls ended before their cause and were"), float64(r.LargestNS)/1e3)
}

// Clocks returns the clocks that the correction was computed with, applied to the moved times.
func (c *Correction) Clocks(found *timeline.Clocks) *timeline.Clocks {
	if c.Repaired == 0 {
		return found
	}
	moved := timeline.Clocks{}
	if found != nil {
		moved = *found
	}
	moved.Moves = func(location int) timeline.Mover { return c.Of(location) }
	return &moved
}

// A step moves the times of a thread from the exit of a call on, by an amount that decays.
type step struct {
	call  uint64 // index on its thread
	shift int64  // ns
}

// A line is the time of one thread.
type line struct {
	at, shift int64  // time of the last step, on the uncorrected clock, and its shift
	packed    []byte // all steps: the distance to the previous step's call, and the shift
	last      uint64 // the call of the last step
}

// own returns a time plus the remaining shift of earlier steps.
func (l *line) own(t int64) int64 {
	return t + max(0, l.shift-int64(timeline.Decay*float64(max(0, t-l.at))))
}

// move starts a step at a time.
func (l *line) move(at, shift int64) { l.at, l.shift = at, shift }

// keep stores a step for readers.
func (l *line) keep(s step) {
	l.packed = binary.AppendUvarint(l.packed, s.call-l.last)
	l.packed = binary.AppendVarint(l.packed, s.shift)
	l.last = s.call
}

// Of returns the times of a location. Its calls must be queried in order, with Enter and then Exit
// for each.
func (c *Correction) Of(location int) *Times {
	t := &Times{rest: c.lines[location].packed}
	t.advance()
	return t
}

// Times corrects the times of the calls of one location.
type Times struct {
	line line
	next step
	more bool
	rest []byte
}

func (t *Times) advance() {
	if t.more = len(t.rest) > 0; !t.more {
		return
	}
	distance, n := binary.Uvarint(t.rest)
	shift, m := binary.Varint(t.rest[n:])
	t.next, t.rest = step{t.next.call + distance, shift}, t.rest[n+m:]
}

// Enter returns the corrected time of a call's enter, which is at ns on the trace's clocks.
func (t *Times) Enter(ns int64) int64 { return t.line.own(ns) }

// Exit returns the corrected time of the exit of the call with an index.
func (t *Times) Exit(call uint64, ns int64) int64 {
	if t.more && t.next.call == call {
		t.line.move(ns, t.next.shift)
		t.advance()
	}
	return t.line.own(ns)
}
