package timeline

import (
	"context"
	"fmt"

	"github.com/cairn-mpi/cairn/trace"
)

// A Call is one call with its times on the common clock.
type Call struct {
	Location    int // index into Locations
	Enter, Exit int64
	*trace.Event
}

// Each calls f for every call of the trace, in the order in which calls were entered. The call and its event are
// valid until f returns.
func Each(ctx context.Context, t Trace, clocks *Clocks, f func(*Call) error) error {
	locations := Locations(t)
	var q queue
	for i, l := range locations {
		cursor, err := t.Calls(l.Rank, l.Thread)
		if err != nil {
			return fmt.Errorf("rank %d, thread %d: %w", l.Rank, l.Thread, err)
		}
		h := &head{cursor: cursor, clock: clocks.clock(l.Row), call: Call{Location: i}}
		ok, err := h.next()
		if err != nil {
			return fmt.Errorf("rank %d, thread %d: %w", l.Rank, l.Thread, err)
		}
		if ok {
			q.push(h)
		}
	}
	for n := 0; len(q) > 0; n++ {
		if n&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		h := q[0]
		if err := f(&h.call); err != nil {
			return err
		}
		ok, err := h.next()
		if err != nil {
			l := locations[h.call.Location]
			return fmt.Errorf("rank %d, thread %d: %w", l.Rank, l.Thread, err)
		}
		if ok {
			q.down(0)
		} else {
			q.pop()
		}
	}
	return nil
}

// EachOf calls f for the calls of one location, in order.
func EachOf(ctx context.Context, t Trace, location int, l Location, clocks *Clocks, f func(*Call) error) error {
	cursor, err := t.Calls(l.Rank, l.Thread)
	if err != nil {
		return fmt.Errorf("rank %d, thread %d: %w", l.Rank, l.Thread, err)
	}
	h := head{cursor: cursor, clock: clocks.clock(l.Row), call: Call{Location: location}}
	for n := 0; ; n++ {
		if n&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		ok, err := h.next()
		if err != nil {
			return fmt.Errorf("rank %d, thread %d: %w", l.Rank, l.Thread, err)
		}
		if !ok {
			return nil
		}
		if err := f(&h.call); err != nil {
			return err
		}
	}
}

// A head is a thread's next call.
type head struct {
	cursor Cursor
	clock  *Clock
	call   Call
}

func (h *head) next() (bool, error) {
	if !h.cursor.Next() {
		return false, h.cursor.Err()
	}
	e := h.cursor.Event()
	h.call.Event = e
	h.call.Enter = h.clock.Time(e.Enter)
	h.call.Exit = max(h.call.Enter, h.clock.Time(e.Exit))
	return true, nil
}

// queue is a binary heap of heads, earliest enter first; location numbers break ties, so that the order is the same
// in every run.
type queue []*head

func (q queue) less(i, j int) bool {
	a, b := &q[i].call, &q[j].call
	return a.Enter < b.Enter || a.Enter == b.Enter && a.Location < b.Location
}

func (q *queue) push(h *head) {
	*q = append(*q, h)
	s := *q
	for i := len(s) - 1; i > 0; {
		parent := (i - 1) / 2
		if !s.less(i, parent) {
			break
		}
		s[i], s[parent] = s[parent], s[i]
		i = parent
	}
}

func (q queue) down(i int) {
	for {
		least := 2*i + 1
		if least >= len(q) {
			return
		}
		if r := least + 1; r < len(q) && q.less(r, least) {
			least = r
		}
		if !q.less(least, i) {
			return
		}
		q[i], q[least] = q[least], q[i]
		i = least
	}
}

func (q *queue) pop() {
	s := *q
	s[0] = s[len(s)-1]
	s[len(s)-1] = nil
	*q = s[:len(s)-1]
	q.down(0)
}
