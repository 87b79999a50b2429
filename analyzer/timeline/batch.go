package timeline

import (
	"runtime"
	"sync"

	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/trace"
)

// Calls are decoded in batches, one thread's at a time: a decoder's state does not fit into the cache beside those of all
// others, and going from one to the next with every call costs more than decoding. Batches are decoded ahead, on other
// processors, while the calls before them are looked at.

// A Reader makes of a thread's calls, while they are decoded, what an analysis needs of them. What it gives is valid until
// Reset, and must not refer to the event, which the next call overwrites.
type Reader[T any] interface {
	Read(c *Call, to *T)
	Reset()
}

// A batch is some calls of a thread that follow each other, as read.
type batch[T any] struct {
	reader Reader[T]
	enters []int64
	calls  []T
	err    error
	last   bool // no call comes after it
}

// BatchSize is how many calls of a thread are looked at in a row: it keeps the batches of all threads together at about the
// same memory, tens of MiB.
func BatchSize(threads int) int { return max(16, min(256, 1<<15/max(1, threads))) }

// fill decodes the next calls of a thread.
func (b *batch[T]) fill(h *head[T], size int) {
	if b.calls == nil {
		b.calls, b.enters = make([]T, 0, size), make([]int64, 0, size)
	}
	b.reader.Reset()
	b.calls, b.enters = b.calls[:0], b.enters[:0]
	c := Call{Record: Record{Location: h.location}}
	for len(b.calls) < size {
		if !h.cursor.Next() {
			b.err, b.last = h.cursor.Err(), true
			h.cursor = nil // a decoder takes memory
			return
		}
		c.set(h.cursor.Event(), h.clock)
		b.enters = append(b.enters, c.Enter)
		b.last = c.within(h.window)
		b.calls = b.calls[:len(b.calls)+1]
		b.reader.Read(&c, &b.calls[len(b.calls)-1])
		if b.last {
			h.cursor = nil
			return
		}
	}
}

// whole is the Reader that keeps everything.
type whole struct {
	events []*trace.Event // of all batches so far, to be used again
	used   int
	values []trace.Value
}

func (w *whole) Reset() { w.used, w.values = 0, w.values[:0] }

func (w *whole) Read(c, kept *Call) {
	*kept = *c
	if w.used == len(w.events) {
		w.events = append(w.events, new(trace.Event))
	}
	kept.Event = w.events[w.used]
	w.used++
	*kept.Event = *c.Event
	w.values = keepValues(w.values, kept.Event)
}

// Keep copies an event and the values that its cursor will overwrite.
func Keep(e *trace.Event) *trace.Event {
	kept := *e
	keepValues(nil, &kept)
	return &kept
}

// keepValues appends the values of an event that its cursor will overwrite, those that are not the signature's own, and
// makes the event refer to them.
func keepValues(to []trace.Value, e *trace.Event) []trace.Value {
	to, e.In = keep(to, e.In, e.Signature.In)
	to, e.Out = keep(to, e.Out, e.Signature.Out)
	return to
}

func keep(to, values, signature []trace.Value) (all, own []trace.Value) {
	if len(values) == 0 || len(signature) == len(values) && &values[0] == &signature[0] {
		return to, values
	}
	from := len(to)
	to = append(to, values...)
	own = to[from:len(to):len(to)]
	for i := range own {
		if len(own[i].List) > 0 {
			var list []trace.Value
			if i < len(signature) {
				list = signature[i].List
			}
			to, own[i].List = keep(to, own[i].List, list)
		}
	}
	return to, own
}

// A feed decodes batches ahead.
type feed[T any] struct {
	wanted chan *head[T]
	size   int
	pass   *passes.Pass // that the calls count for
	done   sync.WaitGroup
}

func newFeed[T any](heads int, pass *passes.Pass) *feed[T] {
	f := &feed[T]{wanted: make(chan *head[T], heads), size: BatchSize(heads), pass: pass}
	for range max(1, runtime.GOMAXPROCS(0)-1) {
		f.done.Go(func() {
			for h := range f.wanted {
				h.ahead.fill(h, f.size)
				h.ready <- struct{}{}
			}
		})
	}
	return f
}

// stop waits until nobody decodes any more.
func (f *feed[T]) stop() {
	for more := true; more; {
		select {
		case <-f.wanted: // nobody needs it
		default:
			more = false
		}
	}
	close(f.wanted)
	f.done.Wait()
}

// next goes to the thread's next call; false at its end.
func (f *feed[T]) next(h *head[T]) (bool, error) {
	h.at++
	if h.at < len(h.now.calls) {
		return true, nil
	}
	f.pass.Add(len(h.now.calls))
	if h.now.last {
		return false, h.now.err
	}
	<-h.ready
	h.now, h.ahead, h.at = h.ahead, h.now, 0
	if !h.now.last {
		f.wanted <- h
	}
	if len(h.now.calls) == 0 {
		return false, h.now.err
	}
	return true, nil
}
