package timeline

import (
	"context"

	"github.com/cairn-mpi/cairn/internal/passes"
)

// Ahead reads the calls of all threads, each thread independently and arbitrarily far ahead. For
// processing in order of entry, Earliest returns the thread whose call is next.
type Ahead[T any, R Reader[T]] struct {
	locations []Location
	heads     []head[T, R]
	queue     *Queue
	feed      *feed[T, R]
	newReader func(location int) R
	window    *Window
	end       func()
	err       error
}

// A head is the position in a thread. The fields that are used for every call come first, in one
// cache line.
type head[T any, R Reader[T]] struct {
	at      int            // index of the next call
	calls   []Entry[T]     // calls of its batch
	batches []*batch[T, R] // decoded batches from that on
	used    []*batch[T, R] // for reuse

	spare    *batch[T, R]      // batch that is being decoded
	pending  bool              // spare is being decoded
	ready    chan *batch[T, R] // receives spare when it is decoded
	cursor   Cursor
	clock    *Clock
	mover    Mover
	window   *Window
	location int
}

// A Run is consecutive calls of a thread, as its reader By made them. It is valid until the last of
// them is passed.
type Run[T any, R Reader[T]] struct {
	By    R
	Enter int64 // entry of the first call
	Calls []Entry[T]
}

// OpenAhead starts decoding all calls of a trace. Readers run in other goroutines, each for one
// location.
func OpenAhead[T any, R Reader[T]](ctx context.Context, t Trace, clocks *Clocks, newReader func(location int) R) (*Ahead[T, R], error) {
	a := &Ahead[T, R]{locations: Locations(t), window: clocks.window(), newReader: newReader}
	n := len(a.locations)
	a.heads, a.queue = make([]head[T, R], n), NewQueue(n)
	_, pass, end := passes.Calls(ctx, CallsWithin(t, clocks))
	a.feed, a.end = newFeed[T, R](n, pass), end
	for i, l := range a.locations {
		cursor, err := clocks.calls(t, i, l)
		if err != nil {
			a.Close()
			return nil, at(l, err)
		}
		a.heads[i] = head[T, R]{
			cursor: cursor, clock: clocks.clock(l.Row), mover: clocks.mover(i), window: a.window, location: i,
			ready: make(chan *batch[T, R], 1),
		}
		a.request(&a.heads[i])
	}
	for i := range a.heads {
		if h := &a.heads[i]; a.more(h) {
			h.calls = h.batches[0].calls
			a.queue.Add(i, h.batches[0].begin)
		}
	}
	return a, nil
}

// Close stops decoding.
func (a *Ahead[T, R]) Close() {
	a.feed.stop()
	a.end()
}

// Err returns the error that ended a thread's calls early, nil if there was none.
func (a *Ahead[T, R]) Err() error { return a.err }

// Earliest returns the location whose next call was entered first (the lower one of equal entries)
// and the time of that entry. It reports false if there are no more calls.
func (a *Ahead[T, R]) Earliest() (location int, enter int64, more bool) {
	if a.err != nil {
		return 0, 0, false
	}
	return a.queue.First()
}

// Within clips a time to the window.
func (a *Ahead[T, R]) Within(t int64) int64 {
	if a.window == nil {
		return t
	}
	return a.window.time(t)
}

// From returns the calls of a location after the next skip ones, as many as were decoded together;
// none if there are no more. Times are those of the trace, also outside the window.
func (a *Ahead[T, R]) From(location, skip int) Run[T, R] {
	h := &a.heads[location]
	i := h.at + skip
	for k := 0; ; k++ {
		if k == len(h.batches) && !a.more(h) {
			return Run[T, R]{}
		}
		b := h.batches[k]
		if i >= len(b.calls) {
			i -= len(b.calls)
			continue
		}
		enter := b.begin
		if i > 0 {
			enter = b.calls[i-1].Next
		}
		return Run[T, R]{b.reader, enter, b.calls[i:]}
	}
}

// Next is From for the next call of a location that Earliest has returned.
func (a *Ahead[T, R]) Next(location int) (by R, made *T) {
	h := &a.heads[location]
	return h.batches[0].reader, &h.calls[h.at].Made
}

// Pass advances a location by a number of calls, which must exist.
func (a *Ahead[T, R]) Pass(location, calls int) {
	h := &a.heads[location]
	if h.at += calls; h.at < len(h.calls) {
		a.queue.Next(location, h.calls[h.at-1].Next)
		return
	}
	for h.at >= len(h.calls) {
		h.at -= len(h.calls)
		a.feed.pass.Add(len(h.calls))
		h.used = append(h.used, h.batches[0])
		h.batches = append(h.batches[:0], h.batches[1:]...)
		if len(h.batches) == 0 && !a.more(h) {
			h.calls = nil
			a.queue.Remove(location)
			return
		}
		h.calls = h.batches[0].calls
	}
	enter := h.batches[0].begin
	if h.at > 0 {
		enter = h.calls[h.at-1].Next
	}
	a.queue.Next(location, enter)
}

// more waits for a thread's next calls. It reports false if there are none.
func (a *Ahead[T, R]) more(h *head[T, R]) bool {
	if !h.pending {
		return false
	}
	b := <-h.ready
	h.pending = false
	if b.err != nil && a.err == nil {
		a.err = at(a.locations[h.location], b.err)
	}
	if len(b.calls) == 0 {
		return false
	}
	h.batches = append(h.batches, b)
	if !b.last {
		a.request(h)
	}
	return true
}

// request starts decoding a thread's next calls.
func (a *Ahead[T, R]) request(h *head[T, R]) {
	if n := len(h.used); n > 0 {
		h.spare, h.used = h.used[n-1], h.used[:n-1]
	} else {
		h.spare = &batch[T, R]{reader: a.newReader(h.location)}
	}
	h.pending = true
	a.feed.wanted <- h
}
