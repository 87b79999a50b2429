package activity

import (
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// A Kind is what a thread does.
type Kind uint8

// Kinds.
const (
	Computation Kind = iota // of the program, outside MPI
	Call                    // inside an MPI call, whether it waits there or not
	Waiting                 // between polls: it counts as MPI, of the call that ends it
	Untraced                // tracing was off
	Tool                    // the tracer held the thread
)

// A Span is a stretch of one kind, in nanoseconds on the common clock.
type Span struct {
	Kind     Kind
	From, To int64
}

// A Step is what a thread did since the end of its call before, and in this one.
type Step struct {
	// Start is when the step begins: with the end of the call before, or of a thread's first call with its entry. End is
	// when it ends. Both lie before the call's entry only if that is nested in another call.
	Start, End int64
	// Nested: the call lies in one before, and takes no time of its own.
	Nested bool

	spans [3]Span
	count int
}

// Spans are those that take time, in order, and the call's own also where it takes none. A nested call has none, nor has
// one outside of the window that is looked at (timeline.Window).
func (s *Step) Spans() []Span { return s.spans[:s.count] }

func (s *Step) add(kind Kind, to int64) {
	s.spans[s.count] = Span{kind, s.End, to}
	s.count++
	s.End = to
}

// A Thread follows the calls of one thread. The zero value is one of which all calls up to MPI_Finalize count.
type Thread struct {
	first     uint64 // call that counts
	began     bool
	finalized bool
	attempt   polling.Attempt
	step      Step // the latest; it ends where the next one begins
}

// See takes the thread's next call, which is such a poll (polling.LocationGaps.See). The step is valid until the next one is
// seen; it is nil for a call that is not part of the run.
func (t *Thread) See(c *timeline.Record, poll polling.Poll) *Step {
	if t.finalized || c.Index < t.first {
		return nil
	}
	s := &t.step
	t.finalized = c.Semantics.Operation == semantics.Finalize
	if !t.began {
		t.began, s.End = true, c.Enter
	}
	_, polling := t.attempt.See(poll, c)
	s.Start, s.Nested, s.count = s.End, false, 0
	if held := min(c.Held, c.Enter-s.End); held > 0 {
		s.add(Tool, s.End+held)
	}
	if c.Enter > s.End {
		switch {
		case polling:
			s.add(Waiting, c.Enter)
		case c.Signature.Untraced:
			s.add(Untraced, c.Enter)
		default:
			s.add(Computation, c.Enter)
		}
	}
	switch {
	case c.Outside:
		s.End = max(s.End, c.Exit)
	case c.Exit < s.End:
		s.Nested = true
	default:
		s.add(Call, c.Exit)
	}
	return s
}
