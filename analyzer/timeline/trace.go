package timeline

import "github.com/cairn-mpi/cairn/trace"

// A Trace is what the analyses need of a trace. *trace.Reader has all of it but for the type of Cursor's result; Of
// adapts it.
type Trace interface {
	Meta() *trace.Meta
	Function(id uint16) *trace.Function
	Sites() []trace.Site
	Signatures() []trace.Signature
	Communicators() []trace.Communicator
	Grammar() trace.Grammar
	Ranks() []trace.Rank
	Threads() []trace.Thread
	Calls(rank, thread int) (Cursor, error)
	Matrix() ([]trace.Traffic, error)
	// Span is when a thread (its position in Threads) began and ended, and Aggregates is its aggregated timing.
	Span(thread int) (begin, end int64)
	Aggregates(thread int) ([]trace.Aggregate, error)
}

// A Cursor goes through the calls of one thread.
type Cursor interface {
	Next() bool
	Event() *trace.Event
	Err() error
}

// Of makes a reader a Trace.
func Of(r *trace.Reader) Trace { return reader{r} }

type reader struct{ *trace.Reader }

func (r reader) Calls(rank, thread int) (Cursor, error) { return r.Cursor(rank, thread) }
