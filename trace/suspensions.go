package trace

import (
	"math"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// Suspensions are how often the first thread of a process was looked at from outside, in equal
// intervals, and how often it was suspended then, by a signal or a debugger.
type Suspensions struct{ Looks, Suspended int64 }

// The columns of suspensions.
const (
	suspensionLooks = iota
	suspensionSuspended
	suspensionColumns
)

// A suspensionTable has a row for each rank that was ever seen suspended.
type suspensionTable struct{ codec.Ragged }

// append adds a rank.
func (t *suspensionTable) append(s Suspensions) {
	if s.Suspended > 0 {
		t.Add(suspensionColumns, s.Looks, s.Suspended)
	}
	t.End(suspensionColumns)
}

// lookup returns a function that returns the suspensions of the rank in a row.
func (t *suspensionTable) lookup() func(i int) Suspensions {
	l := t.Lookup()
	return func(i int) (s Suspensions) {
		if from, to := l.Rows(i); from < to {
			s = Suspensions{l.At(suspensionLooks, from), l.At(suspensionSuspended, from)}
		}
		return s
	}
}

// appendSuspensions writes the suspensions of ranks: the number of rows of each rank (0 or 1), then
// the rows.
func appendSuspensions(t *RankTable) []byte {
	s := newSection()
	s.Sequence(t.suspensions.Counts())
	for k := range suspensionColumns {
		s.Numbers(&t.suspensions.Columns[k])
	}
	return s.Body
}

// suspensions reads what appendSuspensions wrote.
func (d *decoder) suspensions(c *Content) {
	t := suspensionTable{d.Ragged(c.Ranks.Len(), suspensionColumns)}
	for k := range suspensionColumns {
		if d.Err == nil && !t.Columns[k].Within(0, math.MaxInt64) {
			d.Fail(codec.ErrNumber)
		}
	}
	if d.Err == nil {
		c.Ranks.suspensions = t
	}
}
