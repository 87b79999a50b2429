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
	Tool                    // overhead of the tracer
)

// A Span is an interval of one kind, in nanoseconds on the common clock.
type Span struct {
	Kind     Kind
	From, To int64
}

// A Step is the activity of a thread from the end of its previous call to the end of this one.
type Step struct {
	// Start is the end of the previous call, or the entry of a thread's first call. End is the end
	// of the step. Both precede the call's entry only if it is nested in another call.
	Start, End int64
	// Nested: the call lies within a previous one and takes no time of its own.
	Nested bool

	spans [3]Span
	count int
}

// Spans returns the spans with a duration, in order, and always the span of the call itself. A
// nested call has none, and neither has one outside the window (timeline.Window).
func (s *Step) Spans() []Span { return s.spans[:s.count] }

func (s *Step) add(kind Kind, to int64) {
	s.spans[s.count] = Span{kind, s.End, to}
	s.count++
	s.End = to
}

// A Thread follows the calls of one thread. With the zero value all calls up to MPI_Finalize belong
// to the run.
type Thread struct {
	first     uint64 // index of the first call of the run
	began     bool
	finalized bool
	attempt   polling.Attempt
	step      Step // the latest step; the next one begins at its end
}

// See adds the thread's next call with its kind of poll (polling.LocationGaps.See). The step is
// valid until the next call of See. It is nil for a call that is not part of the run.
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
	if overhead := min(c.Overhead, c.Enter-s.End); overhead > 0 {
		s.add(Tool, s.End+overhead)
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
