package timeline

import (
	"context"
	"math"
	"sync"

	"github.com/cairn-mpi/cairn/analyzer/traffic"
	"github.com/cairn-mpi/cairn/internal/passes"
)

// A Window restricts a run to the part between two times on the common clock. Calls around it are
// included in order, because matching needs them, but take no time: calls before it are moved to
// its beginning, calls after it to its end, and calls across a boundary are clipped.
type Window struct {
	From, To int64
	Start    int64 // start of the run
	// Begin and End bound the calls that are read, by time of entry: they are quiescent points
	// (match.Cut). In addition one more call of each thread on either side is read (Record.Apart).
	// 0: there is no such point.
	Begin, End int64
	firsts     sync.Map // by location: index of the first call to read
}

// time clips a time to the window.
func (w *Window) time(t int64) int64 { return min(max(t, w.From), w.To) }

// within clips the call to the window and reports whether it is the last of its thread to be read.
func (c *Call) within(w *Window) (last bool) {
	c.Outside, c.Apart = false, false
	if w == nil {
		return false
	}
	last = w.End != 0 && c.Enter >= w.End
	c.Apart = last || w.Begin != 0 && c.Enter < w.Begin
	c.Outside = c.Apart || c.Exit <= w.From || c.Enter >= w.To
	c.Enter, c.Exit = w.time(c.Enter), w.time(c.Exit)
	return last
}

// calls returns a cursor of a thread that begins with the last call that was entered before the
// window's Begin.
func (c *Clocks) calls(t Trace, location int, l Location) (Cursor, error) {
	cursor, err := t.Calls(l.Rank, l.Thread)
	w := c.window()
	if err != nil || w == nil || w.Begin == 0 {
		return cursor, err
	}
	first, known := w.firsts.Load(location)
	if !known {
		if first, err = w.first(cursor, c.clock(l.Row), t.Threads().At(location).Calls); err != nil {
			return nil, err
		}
		w.firsts.Store(location, first)
	}
	cursor.Seek(first.(uint64))
	return cursor, cursor.Err()
}

// first returns the index of the last call that was entered before Begin. calls is the number of
// calls of the thread.
func (w *Window) first(cursor Cursor, clock *Clock, calls uint64) (uint64, error) {
	if !cursor.SeekTime(clock.before(w.Begin)) {
		return 0, cursor.Err()
	}
	for cursor.Next() {
		if e := cursor.Event(); clock.Time(e.Enter) >= w.Begin {
			calls = e.Index
			break
		}
	}
	return max(calls, 1) - 1, cursor.Err()
}

// window returns the window of a run, nil for all of it.
func (c *Clocks) window() *Window {
	if c == nil {
		return nil
	}
	return c.Window
}

// Restrict restricts the communication matrices of a trace to the clocks' window. With a window it
// reads all calls.
func Restrict(ctx context.Context, t Trace, clocks *Clocks) (Trace, error) {
	if clocks.window() == nil {
		return t, nil
	}
	locations := Locations(t)
	ctx, _, end := passes.Calls(ctx, CallsWithin(t, clocks))
	defer end()
	w := restricted{t, make([]indices, len(locations))}
	for i, l := range locations {
		inside := &w.calls[i]
		err := EachOf(ctx, t, i, l, clocks, func(c *Call) error {
			switch {
			case c.Outside:
			case inside.to == 0:
				inside.from, inside.to = c.Index, c.Index+1
			default:
				inside.to = c.Index + 1
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return w, nil
}

// A restricted trace has the messages of some calls of each thread.
type restricted struct {
	Trace
	calls []indices
}

// indices are the range from ≤ i < to.
type indices struct{ from, to uint64 }

func (r restricted) Matrix() ([]traffic.Pair, error) {
	return r.MatrixBetween(func(int) (uint64, uint64) { return 0, math.MaxUint64 })
}

func (r restricted) MatrixBetween(calls func(thread int) (from, to uint64)) ([]traffic.Pair, error) {
	return r.Trace.MatrixBetween(func(thread int) (from, to uint64) {
		from, to = calls(thread)
		from, to = max(from, r.calls[thread].from), min(to, r.calls[thread].to)
		return from, max(from, to)
	})
}
