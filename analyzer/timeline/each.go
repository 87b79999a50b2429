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
	Held                  int64  // see trace.Event
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

func (c *Call) set(e *trace.Event, clock *Clock) {
	c.Enter = clock.Time(e.Enter)
	c.Exit = max(c.Enter, clock.Time(e.Exit))
	c.EnterError, c.ExitError = e.EnterError, e.ExitError
	c.Held, c.Index, c.Function, c.Semantics, c.Signature, c.Event = e.Held, e.Index, e.Function, e.Semantics, e.Signature, e
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
	locations := Locations(t)
	heads := make([]head[T, R], len(locations))
	_, pass, end := passes.Calls(ctx, CallsWithin(t, clocks))
	defer end()
	feed := newFeed[T, R](len(locations), pass)
	defer feed.stop()
	for i, l := range locations {
		cursor, err := clocks.calls(t, i, l)
		if err != nil {
			return at(l, err)
		}
		heads[i] = head[T, R]{
			cursor: cursor, clock: clocks.clock(l.Row), window: clocks.window(), location: i,
			now: &batch[T, R]{reader: newReader(i)}, ahead: &batch[T, R]{reader: newReader(i)}, ready: make(chan struct{}, 1),
		}
		feed.wanted <- &heads[i]
	}
	q := make(queue, 0, len(locations))
	for i, l := range locations {
		h := &heads[i]
		enter, ok, err := feed.next(h)
		if err != nil {
			return at(l, err)
		}
		if ok {
			q.push(turn{enter, int32(i)})
		}
	}
	for n := 0; len(q) > 0; n++ {
		if n&0x3fff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		location := q[0].location
		h := &heads[location]
		entered := q[0].enter
		if h.window != nil {
			entered = h.window.time(entered)
		}
		if err := f(h.reader, entered, &h.calls[h.at].call); err != nil {
			return err
		}
		enter, ok, err := feed.next(h)
		if err != nil {
			return at(locations[location], err)
		}
		if ok {
			q[0].enter = enter
			q.down(0)
		} else {
			q.pop()
		}
	}
	return nil
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
	clock, window, call := clocks.clock(l.Row), clocks.window(), Call{Record: Record{Location: location}}
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
		call.set(cursor.Event(), clock)
		last := call.within(window)
		if err := f(&call); err != nil {
			return err
		}
		if last {
			return nil
		}
	}
}

// A head is where a thread is. What is looked at with every call comes first, in one cache line.
type head[T any, R Reader[T]] struct {
	at     int        // the next call
	calls  []entry[T] // of the batch that it is in
	reader R
	window *Window

	now      *batch[T, R]
	ahead    *batch[T, R]  // the next one
	ready    chan struct{} // has something when that is decoded
	cursor   Cursor
	clock    *Clock
	location int
}

// A turn is when a location's next call was entered.
type turn struct {
	enter    int64
	location int32
}

// queue is a binary heap of turns, earliest enter first; location numbers break ties, so that the order is the same in
// every run. It holds what it compares: 16 bytes a location stay in the cache where threads' states do not.
type queue []turn

func (a turn) before(b turn) bool {
	return a.enter < b.enter || a.enter == b.enter && a.location < b.location
}

func (q *queue) push(t turn) {
	*q = append(*q, t)
	s := *q
	for i := len(s) - 1; i > 0; {
		parent := (i - 1) / 2
		if !s[i].before(s[parent]) {
			break
		}
		s[i], s[parent] = s[parent], s[i]
		i = parent
	}
}

func (q queue) down(i int) {
	if len(q) == 0 {
		return
	}
	moving := q[i]
	for {
		least := 2*i + 1
		if least >= len(q) {
			break
		}
		if r := least + 1; r < len(q) && q[r].before(q[least]) {
			least = r
		}
		if !q[least].before(moving) {
			break
		}
		q[i] = q[least]
		i = least
	}
	q[i] = moving
}

func (q *queue) pop() {
	s := *q
	s[0] = s[len(s)-1]
	*q = s[:len(s)-1]
	q.down(0)
}
