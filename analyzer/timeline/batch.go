package timeline

import (
	"runtime"
	"sync"

	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/trace"
)

// Calls are decoded in batches of one thread: the state of a decoder does not fit into the cache
// together with those of all others, and switching between threads with every call costs more than
// decoding. Batches are decoded ahead, in other goroutines, while earlier calls are processed.

// A Reader extracts from a thread's calls, while they are decoded, what an analysis needs. Its
// results are valid until Reset. They must not refer to the event, which the next call overwrites.
type Reader[T any] interface {
	Read(c *Call, to *T)
	Reset()
}

// A batch is consecutive calls of a thread, as read.
type batch[T any, R Reader[T]] struct {
	reader R
	begin  int64 // entry of the first call
	calls  []Entry[T]
	err    error
	last   bool // it is the last batch
}

// An Entry is a call together with the entry time of the following one of the batch, so that its
// turn is known without reading that one.
type Entry[T any] struct {
	Next int64
	Made T
}

// batchSize returns the number of calls per batch, such that the batches of all threads together
// take tens of MiB.
func batchSize(threads int) int { return max(16, min(256, 1<<17/max(1, threads))) }

// fill decodes the next calls of a thread.
func (b *batch[T, R]) fill(h *head[T, R], size int) {
	if b.calls == nil {
		b.calls = make([]Entry[T], 0, size)
	}
	b.reader.Reset()
	b.calls = b.calls[:0]
	c := Call{Record: Record{Location: h.location}}
	for len(b.calls) < size {
		if !h.cursor.Next() {
			b.err, b.last = h.cursor.Err(), true
			h.cursor = nil // frees the decoder's memory
			return
		}
		c.set(h.cursor.Event(), h.clock, h.mover)
		if n := len(b.calls); n > 0 {
			b.calls[n-1].Next = c.Enter
		} else {
			b.begin = c.Enter
		}
		b.last = c.within(h.window)
		b.calls = b.calls[:len(b.calls)+1]
		b.reader.Read(&c, &b.calls[len(b.calls)-1].Made)
		if b.last {
			h.cursor = nil
			return
		}
	}
}

// whole is a Reader that keeps complete calls.
type whole struct {
	events []*trace.Event // of all batches so far, for reuse
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

// Keep returns a copy of an event, including the values that its cursor will overwrite.
func Keep(e *trace.Event) *trace.Event {
	kept := *e
	keepValues(nil, &kept)
	return &kept
}

// keepValues appends the values of an event that its cursor will overwrite (those that are not the
// signature's own) and makes the event refer to the copies.
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
type feed[T any, R Reader[T]] struct {
	wanted chan *head[T, R]
	size   int
	pass   *passes.Pass // progress that the calls are counted for
	done   sync.WaitGroup
}

func newFeed[T any, R Reader[T]](heads int, pass *passes.Pass) *feed[T, R] {
	f := &feed[T, R]{wanted: make(chan *head[T, R], heads), size: batchSize(heads), pass: pass}
	for range max(1, runtime.GOMAXPROCS(0)-1) {
		f.done.Go(func() {
			for h := range f.wanted {
				b := h.spare
				b.fill(h, f.size)
				h.ready <- b
			}
		})
	}
	return f
}

// stop waits until all decoding goroutines have ended.
func (f *feed[T, R]) stop() {
	for more := true; more; {
		select {
		case <-f.wanted: // no longer needed
		default:
			more = false
		}
	}
	close(f.wanted)
	f.done.Wait()
}
