package trace

import (
	"math"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// An End describes how a process ended that did not complete MPI_Finalize, or that ended in a later
// call.
type End struct {
	Ticks    int64 // the latest time at which it is known to have lived, on the rank's clock
	Signal   int   // the signal that ended it; 0: none, or unknown
	ExitCode int   // its exit code; −1: none, or unknown

	// Order is its number in the order of deaths on its host, from 1. 0: nobody observed it.
	Order int
	// CalledExit reports that the process called exit. Other ways to an exit code are _exit and
	// quick_exit.
	CalledExit bool
	// OutOfMemory reports that the kernel killed a process of its memory cgroup for lack of memory.
	// MemoryLimit is the lowest limit of that cgroup and those above it, MemoryUsed the most
	// resident memory that the process was seen with, both in bytes; 0: none, or unknown.
	OutOfMemory             bool
	MemoryLimit, MemoryUsed int64
	// Look is the last look at what its first thread did.
	Look Look
}

// A Launcher describes how the command ended that started the job's ranks.
type Launcher struct {
	ExitCode int // as in a shell: 128 plus the number of a signal
	Signal   int // the signal that ended it; 0: none
	Asked    int // the first signal that asked the job to end; 0: none
}

// Running is the EndedEarly of a rank whose process still lived when the trace was taken. Its end
// was not observed, for example because its pod was lost.
const Running = "running"

const endColumns = 3

// appendEnds writes the ends of ranks: the number of rows of each rank (0 or 1), then the rows.
func appendEnds(t *RankTable) []byte {
	s := newSection()
	s.Sequence(t.ends.Counts())
	for k := range endColumns {
		s.Numbers(&t.ends.Columns[k])
	}
	return s.Body
}

// ends reads what appendEnds wrote.
func (d *decoder) ends(c *Content) {
	ends := d.Ragged(c.Ranks.Len(), endColumns)
	if d.Err == nil && (!ends.Columns[1].Within(0, math.MaxInt32+1) || !ends.Columns[2].Within(-1, math.MaxInt32+1)) {
		d.Fail(codec.ErrNumber)
	}
	if d.Err == nil {
		c.Ranks.ends = ends
	}
}

// The columns of deaths: what is observed of ends from outside.
const (
	deathOrder = iota
	deathOutOfMemory
	deathLimit
	deathUsed
	deathCalledExit
	deathColumns
)

// A deathTable has a row for each rank whose death was observed from outside.
type deathTable struct{ codec.Ragged }

// append adds a rank; e may be nil.
func (t *deathTable) append(e *End) {
	if e != nil && e.observed() {
		flag := map[bool]int64{true: 1}
		t.Add(deathColumns, int64(e.Order), flag[e.OutOfMemory], e.MemoryLimit, e.MemoryUsed, flag[e.CalledExit])
	}
	t.End(deathColumns)
}

// observed reports whether something is known that only an observer knows.
func (e *End) observed() bool {
	return e.Order != 0 || e.CalledExit || e.OutOfMemory || e.MemoryLimit != 0 || e.MemoryUsed != 0
}

// lookup returns a function that completes the end of the rank in a row.
func (t *deathTable) lookup() func(i int, e *End) {
	l := t.Lookup()
	return func(i int, e *End) {
		from, to := l.Rows(i)
		if from == to || e == nil {
			return
		}
		e.Order, e.OutOfMemory = int(l.At(deathOrder, from)), l.At(deathOutOfMemory, from) != 0
		e.MemoryLimit, e.MemoryUsed = l.At(deathLimit, from), l.At(deathUsed, from)
		e.CalledExit = l.At(deathCalledExit, from) != 0
	}
}

// hasDeaths reports whether the content has what appendDeaths writes.
func hasDeaths(c *Content) bool { return c.Meta.Launcher != nil || c.Ranks.deaths.N > 0 }

// appendDeaths writes how the launcher ended, and the deaths of ranks: the number of rows of each
// rank (0 or 1), then the rows.
func appendDeaths(c *Content) []byte {
	s := newSection()
	launcher := c.Meta.Launcher
	s.Flag(launcher != nil)
	if launcher != nil {
		s.Number(uint64(launcher.ExitCode))
		s.Number(uint64(launcher.Signal))
		s.Number(uint64(launcher.Asked))
	}
	t := &c.Ranks.deaths
	s.Sequence(t.Counts())
	for k := range deathColumns {
		s.Numbers(&t.Columns[k])
	}
	return s.Body
}

// deaths reads what appendDeaths wrote.
func (d *decoder) deaths(c *Content) {
	if d.Flag() {
		c.Meta.Launcher = &Launcher{ExitCode: d.Int(), Signal: d.Int(), Asked: d.Int()}
	}
	t := deathTable{d.Ragged(c.Ranks.Len(), deathColumns)}
	for k, limit := range [deathColumns]int64{math.MaxInt32, 1, math.MaxInt64 - 1, math.MaxInt64 - 1, 1} {
		if d.Err == nil && !t.Columns[k].Within(0, limit+1) {
			d.Fail(codec.ErrNumber)
		}
	}
	if d.Err == nil {
		c.Ranks.deaths = t
	}
}
