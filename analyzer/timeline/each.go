package timeline

import (
	"context"
	"fmt"

	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A Record is one call with its times on the common clock, without its arguments.
type Record struct {
	Location    int // index into Locations
	Enter, Exit int64
	// EnterError and ExitError are the maximum errors of Enter and Exit; see trace.Event.
	EnterError, ExitError int64
	Outside               bool // outside the window (Clocks.Window); then it takes no time
	// the first call before or after Window.Begin … End: shows that the thread exists there, but
	// must not be matched
	Apart     bool
	Overhead  int64  // tracer overhead before the call in ns; see trace.Event
	Index     uint64 // index of the call on its thread, from 0
	Function  *trace.Function
	Semantics *semantics.Function // semantics of the function
	Signature *trace.Signature
}

// A Call is one call with all its data.
type Call struct {
	Record
	Event *trace.Event
}

func (c *Call) set(e *trace.Event, clock *Clock, by Mover) {
	c.Enter = clock.Time(e.Enter)
	c.Exit = max(c.Enter, clock.Time(e.Exit))
	if by != nil {
		c.Enter, c.Exit = by.Enter(c.Enter), by.Exit(e.Index, c.Exit)
	}
	c.EnterError, c.ExitError = e.EnterError, e.ExitError
	c.Overhead, c.Index, c.Function, c.Semantics, c.Signature, c.Event = e.Overhead, e.Index, e.Function, e.Semantics, e.Signature, e
}

// Each calls f for every call of the trace, ordered by time of entry. The call and its event are
// valid until f returns.
func Each(ctx context.Context, t Trace, clocks *Clocks, f func(*Call) error) error {
	return EachRead(ctx, t, clocks, func(int) *whole { return new(whole) }, func(_ *whole, _ int64, c *Call) error { return f(c) })
}

// EachRead calls f for every call of the trace, ordered by time of entry, with what the location's
// reader made of it, that reader and the time of entry. Readers run ahead of f in other goroutines;
// each is for one location. The arguments of f are valid until it returns.
func EachRead[T any, R Reader[T]](ctx context.Context, t Trace, clocks *Clocks, newReader func(location int) R, f func(by R, enter int64, made *T) error) error {
	a, err := OpenAhead(ctx, t, clocks, newReader)
	if err != nil {
		return err
	}
	defer a.Close()
	for n := 0; ; n++ {
		if n&0x3fff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		location, enter, more := a.Earliest()
		if !more {
			return a.Err()
		}
		by, made := a.Next(location)
		if err := f(by, a.Within(enter), made); err != nil {
			return err
		}
		a.Pass(location, 1)
	}
}

func at(l Location, err error) error {
	return fmt.Errorf("rank %d, thread %d: %w", l.Rank, l.Thread, err)
}

// CallsWithin returns the number of calls that are processed, 0 if it is not known.
func CallsWithin(t Trace, clocks *Clocks) uint64 {
	if clocks.window() != nil {
		return 0
	}
	return t.Threads().Calls()
}

// EachOf calls f for the calls of one location, in order. They count for the progress of the
// context's pass.
func EachOf(ctx context.Context, t Trace, location int, l Location, clocks *Clocks, f func(*Call) error) error {
	cursor, err := clocks.calls(t, location, l)
	if err != nil {
		return at(l, err)
	}
	clock, by, window := clocks.clock(l.Row), clocks.mover(location), clocks.window()
	call := Call{Record: Record{Location: location}}
	const chunk = 1 << 14
	pass, n := passes.Of(ctx), 0
	defer func() { pass.Add(n % chunk) }()
	for ; ; n++ {
		if n%chunk == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if n > 0 {
				pass.Add(chunk)
			}
		}
		if !cursor.Next() {
			if err := cursor.Err(); err != nil {
				return at(l, err)
			}
			return nil
		}
		call.set(cursor.Event(), clock, by)
		last := call.within(window)
		if err := f(&call); err != nil {
			return err
		}
		if last {
			return nil
		}
	}
}
