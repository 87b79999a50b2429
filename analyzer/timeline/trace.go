package timeline

import (
	"fmt"
	"sync"

	"github.com/cairn-mpi/cairn/analyzer/traffic"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A Trace is the part of a trace that the analyses need. *trace.Reader implements it except for the
// result type of Cursor; Of adapts it.
type Trace interface {
	Meta() *trace.Meta
	Function(id uint16) *trace.Function
	Semantics(id uint16) *semantics.Function
	Sites() []trace.Site
	Signatures() []trace.Signature
	Communicators() []trace.Communicator
	Grammar() grammar.Grammar
	Ranks() *trace.RankTable
	// OfLeads reports whether only lead ranks have measured times.
	OfLeads() bool
	Threads() *trace.ThreadTable
	Columns() []codec.Numbers
	Sequence(i int) ([]int64, error)
	SequenceLength(i int) (uint64, error)
	ValueOn(v trace.Value, thread, own int) (trace.Value, error)
	Calls(rank, thread int) (Cursor, error)
	// Matrix is computed once for all analyses. Callers must not modify it.
	Matrix() ([]traffic.Pair, error)
	MatrixBetween(calls func(thread int) (from, to uint64)) ([]traffic.Pair, error)
	// Span returns when a thread (an index into Threads) began and ended, and Aggregates its
	// aggregated timing.
	Span(thread int) (begin, end int64)
	Aggregates(thread int) ([]timing.Aggregate, error)
	// Coarse returns the calls for which only sums of times were recorded.
	Coarse() []trace.Coarse
}

// A Cursor reads the calls of one thread in order.
type Cursor interface {
	Next() bool
	// Seek goes to the call with an index, SeekTime to the first call that ends after a time; see
	// package trace.
	Seek(index uint64) bool
	SeekTime(ns int64) bool
	Event() *trace.Event
	Err() error
}

// Of returns a reader as a Trace.
func Of(r *trace.Reader) Trace {
	return reader{r, sync.OnceValues(func() ([]traffic.Pair, error) { return traffic.Matrix(r) })}
}

type reader struct {
	*trace.Reader
	matrix func() ([]traffic.Pair, error)
}

func (r reader) Calls(rank, thread int) (Cursor, error) { return r.Cursor(rank, thread) }

func (r reader) Matrix() ([]traffic.Pair, error) { return r.matrix() }

func (r reader) MatrixBetween(calls func(thread int) (from, to uint64)) ([]traffic.Pair, error) {
	return traffic.MatrixBetween(r.Reader, calls)
}

// NeedTimes returns an error, with the setting to use instead, if the times of single calls were
// not recorded. doing is what needs them: "a prediction".
func NeedTimes(t Trace, doing string) error {
	if t.Meta().Timing.Mode != timing.Aggregated {
		return nil
	}
	return fmt.Errorf("the times of single calls were not kept (timing aggregated), but %s requires them: trace with timing lossless or lossy", doing)
}
