package trace

import (
	"math"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// A Look is what was seen from outside of what the first thread of a process did. Times are in
// nanoseconds.
type Look struct {
	Age     int64 // before the latest time at which the process is known to have lived
	Watched int64 // for how long it had been watched; 0: it was not looked at
	Ran     int64 // CPU time that the thread took meanwhile
	State   byte  // its state at the look, as in /proc/PID/stat; 0: unknown
}

// IsSuspended reports whether a thread in a state as in /proc/PID/stat is suspended, by a signal
// (SIGSTOP, SIGTSTP) or a debugger.
func IsSuspended(state byte) bool { return state == 'T' || state == 't' }

// The columns of looks.
const (
	lookAge = iota
	lookWatched
	lookRan
	lookState
	lookColumns
)

// A lookTable has a row for each rank that ended early and was looked at.
type lookTable struct{ codec.Ragged }

// append adds a rank; e may be nil.
func (t *lookTable) append(e *End) {
	if e != nil && e.Look != (Look{}) {
		t.Add(lookColumns, e.Look.Age, e.Look.Watched, e.Look.Ran, int64(e.Look.State))
	}
	t.End(lookColumns)
}

// lookup returns a function that completes the end of the rank in a row.
func (t *lookTable) lookup() func(i int, e *End) {
	l := t.Lookup()
	return func(i int, e *End) {
		if from, to := l.Rows(i); from < to && e != nil {
			e.Look = Look{l.At(lookAge, from), l.At(lookWatched, from), l.At(lookRan, from), byte(l.At(lookState, from))}
		}
	}
}

// appendLooks writes the looks at ranks: the number of rows of each rank (0 or 1), then the rows.
func appendLooks(c *Content) []byte {
	s := newSection()
	t := &c.Ranks.looks
	s.Sequence(t.Counts())
	for k := range lookColumns {
		s.Numbers(&t.Columns[k])
	}
	return s.Body
}

// looks reads what appendLooks wrote.
func (d *decoder) looks(c *Content) {
	t := lookTable{d.Ragged(c.Ranks.Len(), lookColumns)}
	const most = math.MaxInt64 - 1
	for k, limit := range [lookColumns]int64{most, most, most, math.MaxUint8} {
		if d.Err == nil && !t.Columns[k].Within(0, limit+1) {
			d.Fail(codec.ErrNumber)
		}
	}
	if d.Err == nil {
		c.Ranks.looks = t
	}
}
