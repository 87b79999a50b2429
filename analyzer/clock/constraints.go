package clock

import (
	"math"

	"github.com/cairn-mpi/cairn/analyzer/match"
)

// unbounded is a constraint that says nothing; small enough to be added to another.
const unbounded = math.MaxInt64 / 4

// constraints is a match.Handler that collects bounds between domains: offset[a] − offset[b] ≤ bound[a·n+b].
type constraints struct {
	of    []int // domain of a row
	shift []int64
	n     int
	bound []int64

	barrier uint64  // the operation that latest is about
	latest  []int64 // by domain: when its last participant entered
	row     []int   // and which one that was
}

func newConstraints(of []int, shift []int64) *constraints {
	c := &constraints{of: of, shift: shift, n: len(shift), bound: make([]int64, len(shift)*len(shift))}
	for i := range c.bound {
		c.bound[i] = unbounded
	}
	return c
}

// before notes that cause, on the clock of row a, was not later than effect, on that of row b. Times have the shifts
// of the guess in them, which are taken out again.
func (c *constraints) before(a int, cause int64, b int, effect int64) {
	da, db := c.of[a], c.of[b]
	if da == db {
		return
	}
	k := da*c.n + db
	c.bound[k] = min(c.bound[k], (effect-c.shift[db])-(cause-c.shift[da]))
}

// Message implements match.Handler.
func (c *constraints) Message(m *match.Message) {
	if m.Receive.Done != nil {
		c.before(m.Send.Post.Row, m.Send.Post.Enter, m.Receive.Done.Row, m.Receive.Done.Exit)
	}
	if m.Send.Done != nil && m.Send.Mode == match.Synchronous && !m.Receive.Probe {
		c.before(m.Receive.Post.Row, m.Receive.Post.Enter, m.Send.Done.Row, m.Send.Done.Exit)
	}
}

// Collective implements match.Handler.
func (c *constraints) Collective(op *match.Collective, part int) {
	switch op.Class {
	case match.Startup, match.Shutdown, match.Prefix, match.AllToOne, match.Neighbor, match.OneToAll:
		// MPI_Init need not synchronise; in the others an empty share may leave early
		return
	case match.Barrier, match.AllToAll:
	}
	if c.barrier != op.Number {
		c.enterBarrier(op)
	}
	done := op.Parts[part].Done
	for d, row := range c.row {
		if row >= 0 {
			c.before(row, c.latest[d], done.Row, done.Exit)
		}
	}
}

// enterBarrier notes the last to enter of each domain.
func (c *constraints) enterBarrier(op *match.Collective) {
	c.barrier, c.latest, c.row = op.Number, make([]int64, c.n), make([]int, c.n)
	for d := range c.row {
		c.row[d] = -1
	}
	for i := range op.Parts {
		if p := &op.Parts[i]; p.Present() {
			d := c.of[p.Post.Row]
			if c.row[d] < 0 || p.Post.Enter > c.latest[d] {
				c.latest[d], c.row[d] = p.Post.Enter, p.Post.Row
			}
		}
	}
}

// Settled implements match.Handler.
func (c *constraints) Settled(*match.Completion) {}
