// Package seektest compares the calls that a cursor returns after seeks with those that it returns
// in sequence.
package seektest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Options control how much is compared.
type Options struct {
	Seed  uint64
	Seeks int // on a thread; half of them with a new cursor
	After int // maximum number of calls that are read after a seek
	// Calls limits the calls of a thread that are compared; 0: all.
	Calls int
	// Damaged is for a trace that may be damaged: the calls in sequence may end with an error, and
	// those after a seek may end with one anywhere. Then only calls that both return are compared.
	Damaged bool
}

// Linear returns copies of the calls of a thread in sequence, at most the given number (0: all),
// and the error that ended them.
func Linear(cursor *trace.Cursor, limit int) ([]trace.Event, error) {
	var calls []trace.Event
	for (limit == 0 || len(calls) < limit) && cursor.Next() {
		calls = append(calls, Copy(cursor.Event()))
	}
	return calls, cursor.Err()
}

// Copy returns a deep copy of a call.
func Copy(e *trace.Event) trace.Event {
	c := *e
	c.In, c.Out = copyValues(e.In), copyValues(e.Out)
	c.Return.List = copyValues(e.Return.List)
	return c
}

func copyValues(values []trace.Value) []trace.Value {
	clone := slices.Clone(values)
	for i := range clone {
		clone[i].List = copyValues(clone[i].List)
	}
	return clone
}

// Same reports whether two calls are equal in all fields and values.
func Same(a, b *trace.Event) bool {
	if !sameValues(a.In, b.In) || !sameValues(a.Out, b.Out) || !sameValue(&a.Return, &b.Return) {
		return false
	}
	x, y := *a, *b
	for _, e := range []*trace.Event{&x, &y} {
		e.In, e.Out, e.Return = nil, nil, trace.Value{}
	}
	return reflect.DeepEqual(x, y)
}

func sameValues(a, b []trace.Value) bool {
	for i := range min(len(a), len(b)) {
		if !sameValue(&a[i], &b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

// sameValue compares all fields of a Value.
func sameValue(a, b *trace.Value) bool {
	return a.Form == b.Form && a.Int == b.Int && a.Offset == b.Offset && a.Text == b.Text && sameValues(a.List, b.List)
}

// Thread compares the calls of the thread that open returns cursors for, and returns how many it
// compared.
func Thread(open func() (*trace.Cursor, error), o Options) (compared int, err error) {
	cursor, err := open()
	if err != nil {
		return 0, err
	}
	calls, linear := Linear(cursor, o.Calls)
	switch {
	case linear != nil && !o.Damaged:
		return 0, linear
	case len(calls) == 0:
		return 0, nil
	}
	w := walker{open: open, calls: calls, options: o, timed: slices.ContainsFunc(calls, func(e trace.Event) bool { return e.ExitTicks != 0 }),
		whole:  linear == nil && (o.Calls == 0 || len(calls) < o.Calls),
		random: rand.New(rand.NewPCG(o.Seed, uint64(len(calls))))}
	for k := range o.Seeks {
		if k%2 == 0 || w.cursor == nil {
			w.leave()
			if w.cursor, err = open(); err != nil {
				return w.compared, err
			}
			w.at = 0
		}
		// some cursors are used once, so that nothing they have read is kept; others are used for
		// long
		for range 1 + k%2*w.random.IntN(8) {
			if err := w.travel(); err != nil {
				return w.compared, err
			}
			if w.cursor == nil {
				break
			}
		}
	}
	w.leave()
	return w.compared, nil
}

// leave moves to the end, where a cursor releases its memory.
func (w *walker) leave() {
	if w.cursor != nil && w.cursor.Seek(math.MaxUint64) {
		w.cursor.Next()
	}
}

// Reader compares the calls of every thread of a trace, and returns how many it compared.
func Reader(r *trace.Reader, o Options) (compared int, err error) {
	for i, thread := range r.Threads().All() {
		n, err := Thread(func() (*trace.Cursor, error) { return r.Cursor(thread.Rank, thread.Thread) }, o)
		if compared += n; err != nil {
			return compared, fmt.Errorf("thread %d (rank %d, thread %d): %w", i, thread.Rank, thread.Thread, err)
		}
	}
	return compared, nil
}

// A walker seeks back and forth on a thread.
type walker struct {
	open     func() (*trace.Cursor, error)
	calls    []trace.Event
	whole    bool // linear has all calls
	timed    bool
	options  Options
	random   *rand.Rand
	cursor   *trace.Cursor
	at       int // index of the call that Next returns
	compared int
}

// errFailed is returned for a cursor that failed where it may.
var errFailed = errors.New("the cursor has failed")

// travel seeks and reads some calls.
func (w *walker) travel() error {
	how := w.random.IntN(8)
	err := w.start(how)
	after := w.random.IntN(w.options.After + 1)
	for i := 0; err == nil && i < after; i++ {
		err = w.next()
	}
	if errors.Is(err, errFailed) {
		w.cursor = nil
		return nil
	}
	return err
}

// start seeks to a call or a time, or stays.
func (w *walker) start(how int) error {
	if how == 0 && w.at > 0 {
		return nil
	}
	k := w.random.IntN(len(w.calls) + 1)
	if how == 1 { // shortly before the end, or where timing restarts
		k = max(0, len(w.calls)-w.random.IntN(3))
		if blocks := len(w.calls) / timing.BlockCalls; blocks > 0 {
			k = min(len(w.calls), max(0, (1+w.random.IntN(blocks))*timing.BlockCalls+w.random.IntN(5)-2))
		}
	}
	if how == 2 && w.timed && w.whole && !w.options.Damaged {
		ns := w.calls[min(k, len(w.calls)-1)].Exit - int64(w.random.IntN(2))
		w.at = slices.IndexFunc(w.calls, func(e trace.Event) bool { return e.Exit > ns })
		if w.at < 0 {
			w.at = len(w.calls)
		}
		return w.check(w.cursor.SeekTime(ns), "to a time")
	}
	w.at = k
	return w.check(w.cursor.Seek(uint64(k)), "to a call")
}

func (w *walker) check(ok bool, what string) error {
	switch {
	case ok:
		return nil
	case w.options.Damaged:
		return errFailed
	}
	return fmt.Errorf("%s, %d: %w", what, w.at, w.cursor.Err())
}

// next reads a call.
func (w *walker) next() error {
	if w.at == len(w.calls) {
		if w.whole && w.cursor.Next() {
			return fmt.Errorf("a call follows the last one, %d", w.at-1)
		}
		if w.whole {
			return w.cursor.Err()
		}
		return errFailed // what follows was not read in sequence
	}
	if err := w.check(w.cursor.Next(), "forwards"); err != nil {
		return err
	}
	w.at++
	return w.same()
}

// same compares the current call, which is the one before at.
func (w *walker) same() error {
	w.compared++
	got, want := w.cursor.Event(), &w.calls[w.at-1]
	if Same(got, want) {
		return nil
	}
	return fmt.Errorf("call %d: %s comm %d as %d makes %d, one by one: %s comm %d as %d makes %d", w.at-1, got.AppendJSON(nil),
		got.Comm, got.OwnRank, got.NewComm, want.AppendJSON(nil), want.Comm, want.OwnRank, want.NewComm)
}
