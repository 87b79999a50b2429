package causality

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// A Correction says when the calls of a trace began and ended so that effects come after causes.
type Correction struct {
	Repairs
	lines []line
}

// Repairs say how much a correction moves.
type Repairs struct {
	// Repaired is how many calls ended before what ended them had begun, LargestNS by how much the end of one was moved at
	// most, in nanoseconds.
	Repaired  uint64
	LargestNS int64
}

// Find finds the correction of a trace in a pass over its calls.
func Find(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks) (*Correction, error) {
	f := NewFinder(t)
	if _, err := match.InSections(ctx, t, clocks, f, nil, f.See, nil); err != nil {
		return nil, err
	}
	return f.Finish(), nil
}

// Text is the repairs as a sentence.
func (r Repairs) Text() string {
	if r.Repaired == 0 {
		return "no times had to be moved: effects come after causes"
	}
	return fmt.Sprintf("%s moved after it, by %.3g µs at most",
		wording.Count(r.Repaired, "call ended before its cause and was", "calls ended before their cause and were"), float64(r.LargestNS)/1e3)
}

// Clocks are those that the correction was found with, with the moved times.
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

// A step is by how much times of a thread are moved from the exit of a call on, while it wears off.
type step struct {
	call  uint64 // the index of the call on its thread
	shift int64  // ns
}

// A line is the time of one thread.
type line struct {
	at, shift int64  // the last step: when it was, on the clock that is corrected
	packed    []byte // all steps: for each the distance to the call of the one before, and its shift
	last      uint64 // the call of the last step
}

// own is a time with what is left of the steps before.
func (l *line) own(t int64) int64 {
	return t + max(0, l.shift-int64(timeline.Decay*float64(max(0, t-l.at))))
}

// move makes a time the beginning of a step.
func (l *line) move(at, shift int64) { l.at, l.shift = at, shift }

// keep notes a step for readers.
func (l *line) keep(s step) {
	l.packed = binary.AppendUvarint(l.packed, s.call-l.last)
	l.packed = binary.AppendVarint(l.packed, s.shift)
	l.last = s.call
}

// Of gives the times of a location. Take a location's calls in their order, of each first Enter, then Exit.
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

// Enter is when a call was entered, of one that the trace's clocks have at ns.
func (t *Times) Enter(ns int64) int64 { return t.line.own(ns) }

// Exit is when the call with an index was left.
func (t *Times) Exit(call uint64, ns int64) int64 {
	if t.more && t.next.call == call {
		t.line.move(ns, t.next.shift)
		t.advance()
	}
	return t.line.own(ns)
}
