package accounts

import (
	"errors"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
)

// beside yields when at least one of some locations is inside an MPI call: the other threads of a
// rank, while its first one computes.
type beside struct {
	threads  []*callsOf
	from, to int64 // the present stretch of calls
	more     bool
	failed   error
}

// callsOf reads the calls of a location.
type callsOf struct {
	*eventlog.Reader
	slabs int // left
}

// newBeside returns the calls of locations first, first + 1, … in a log; nil if there are none.
func newBeside(j *eventlog.Log, first, count int) *beside {
	if count == 0 {
		return nil
	}
	b := &beside{}
	for i := range count {
		c := &callsOf{j.Read(first + i), j.Slabs}
		if c.next() {
			b.threads = append(b.threads, c)
		} else {
			b.failed = errors.Join(b.failed, c.Err())
		}
	}
	b.next()
	return b
}

// next advances to the next call within the window. It reports false after the last one.
func (c *callsOf) next() bool {
	for c.slabs > 0 {
		for c.Next() {
			if !c.Record.Outside {
				return true
			}
		}
		c.slabs--
	}
	return false
}

// next advances to the next stretch in which calls follow each other without a gap.
func (b *beside) next() {
	c := b.earliest()
	if b.more = c >= 0; !b.more {
		return
	}
	b.from, b.to = b.threads[c].Record.Enter, b.threads[c].Record.Exit
	for ; c >= 0 && b.threads[c].Record.Enter <= b.to; c = b.earliest() {
		b.to = max(b.to, b.threads[c].Record.Exit)
		if !b.threads[c].next() {
			b.failed = errors.Join(b.failed, b.threads[c].Err())
			b.threads = append(b.threads[:c:c], b.threads[c+1:]...)
		}
	}
}

// earliest returns the thread whose call is entered first, −1 if there are no more calls.
func (b *beside) earliest() int {
	first := -1
	for i, c := range b.threads {
		if first < 0 || c.Record.Enter < b.threads[first].Record.Enter {
			first = i
		}
	}
	return first
}

// within returns how long at least one location is inside a call in an interval. Intervals must be
// asked for in order.
func (b *beside) within(from, to int64) (ns int64) {
	for b != nil && b.more && b.from < to {
		ns += max(0, min(to, b.to)-max(from, b.from))
		if b.to > to {
			break
		}
		b.next()
	}
	return ns
}

// err returns the errors in reading.
func (b *beside) err() error {
	if b == nil {
		return nil
	}
	return b.failed
}
