package timeline

import (
	"context"
	"math"
	"sync"

	"github.com/cairn-mpi/cairn/analyzer/traffic"
	"github.com/cairn-mpi/cairn/internal/passes"
)

// A Window restricts what is told of a run to a part of it, from one time on the common clock to another. Calls around it
// are told all the same, in the order in which they were made, or nobody could match them; but time outside does not
// pass: a call before begins and ends with the window's beginning, one after with its end, and one across is cut.
type Window struct {
	From, To int64
	Start    int64 // of the run
	// Begin and End bound the calls that are told, by when they were entered: between moments at which nothing is under way
	// (match.Cut). Of each thread one more on either side is told (Record.Apart). 0: there is no such moment.
	Begin, End int64
	firsts     sync.Map // by location: the call to begin with
}

// time is a time as the window tells it.
func (w *Window) time(t int64) int64 { return min(max(t, w.From), w.To) }

// within cuts the call to the window, and reports whether it is the last of its thread that counts.
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

// calls goes through the calls of a thread from the last one on that was entered before the window's Begin.
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

// first is the last call that was entered before Begin, of so many.
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

// window is what is told of a run, nil for all of it.
func (c *Clocks) window() *Window {
	if c == nil {
		return nil
	}
	return c.Window
}

// Restrict makes the communication matrices of a trace those of the clocks' window; it goes through all calls then.
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

// indices are those from one on, before the other.
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
