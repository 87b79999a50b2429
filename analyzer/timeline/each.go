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
	// EnterError and ExitError are by how much Enter and Exit may be off: see trace.Event.
	EnterError, ExitError int64
	Outside               bool   // of the window that is looked at (Clocks.Window); then it takes no time
	Apart                 bool   // only tells that its thread was there before, or after: it is not to be matched (Window.Begin)
	Held                  int64  // overhead: see trace.Event
	Index                 uint64 // of the call on its thread, from 0
	Function              *trace.Function
	Semantics             *semantics.Function // what calls of it mean
	Signature             *trace.Signature
}

// A Call is one call with all that the trace has of it.
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
	c.Held, c.Index, c.Function, c.Semantics, c.Signature, c.Event = e.Overhead, e.Index, e.Function, e.Semantics, e.Signature, e
}

// Each calls f for every call of the trace, in the order in which calls were entered. The call and its event are
// valid until f returns.
func Each(ctx context.Context, t Trace, clocks *Clocks, f func(*Call) error) error {
	return EachRead(ctx, t, clocks, func(int) *whole { return new(whole) }, func(_ *whole, _ int64, c *Call) error { return f(c) })
}

// EachRead calls f for what readers make of every call of the trace, in the order in which calls were entered, with the
// reader that made it and the time at which the call was entered. Readers work on other processors and ahead of f; each
// works for one location. What f is given is valid until it returns.
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

// CallsWithin is how many calls of a trace are looked at, 0 if that is not known.
func CallsWithin(t Trace, clocks *Clocks) uint64 {
	if clocks.window() != nil {
		return 0
	}
	return t.Threads().Calls()
}

// EachOf calls f for the calls of one location, in order. They count for the pass that the context belongs to.
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
