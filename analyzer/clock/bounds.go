package clock

import (
	"math"

	"github.com/cairn-mpi/cairn/analyzer/match"
)

// unbounded is a bound that says nothing; small enough to be added to another.
const unbounded = math.MaxInt64 / 4

// A pair is two domains: what happened in `from` came before what happened in `to`.
type pair struct{ from, to int }

// A point is a cause and its effect, each on the guessed clock of its own domain: x_from − x_to ≤ effect − cause.
type point struct{ cause, effect int64 }

func (p point) bound() int64 { return p.effect - p.cause }

// parts is into how many parts of the run a pair's bounds are divided: enough to see a drift, few enough to keep.
const parts = 256

// A series holds the tightest bound of each part of the run. Its parts double in length when the run outgrows them.
type series struct {
	start, length int64 // of the first part, and of each
	points        []point
}

func (s *series) add(p point) {
	if s.length == 0 {
		s.start, s.length = p.effect, 1_000_000
	}
	at := max(p.effect, s.start) // effects come nearly in order of time: what is earlier is not by much
	for (at-s.start)/s.length >= parts {
		s.double()
	}
	i := int((at - s.start) / s.length)
	for len(s.points) <= i {
		s.points = append(s.points, point{effect: unbounded})
	}
	if p.bound() < s.points[i].bound() {
		s.points[i] = p
	}
}

func (s *series) double() {
	s.length *= 2
	half := s.points[:0]
	for i := 0; i < len(s.points); i += 2 {
		p := s.points[i]
		if i+1 < len(s.points) && s.points[i+1].bound() < p.bound() {
			p = s.points[i+1]
		}
		half = append(half, p)
	}
	s.points = half
}

// known are the points that say something.
func (s *series) known() []point {
	if s == nil {
		return nil
	}
	var all []point
	for _, p := range s.points {
		if p.effect < unbounded {
			all = append(all, p)
		}
	}
	return all
}

// causes is a match.Handler that reports which event came before which, between different domains.
type causes struct {
	of     []int // domain by row
	n      int   // domains
	before func(from int, cause int64, to int, effect int64)

	barrier uint64  // the operation that latest is about
	latest  []int64 // by domain: when its last participant entered
	there   []bool  // and whether it had one
}

func (c *causes) tell(a int, cause int64, b int, effect int64) {
	if c.of[a] != c.of[b] {
		c.before(c.of[a], cause, c.of[b], effect)
	}
}

// Message implements match.Handler.
func (c *causes) Message(m *match.Message) {
	if m.Receive.Done != nil {
		c.tell(m.Send.Post.Row, m.Send.Post.Enter, m.Receive.Done.Row, m.Receive.Done.Exit)
	}
	if m.Send.Done != nil && m.Send.Mode == match.Synchronous && !m.Receive.Probe {
		c.tell(m.Receive.Post.Row, m.Receive.Post.Enter, m.Send.Done.Row, m.Send.Done.Exit)
	}
}

// Collective implements match.Handler.
func (c *causes) Collective(op *match.Collective, part int) {
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
	to := c.of[done.Row]
	for d, latest := range c.latest {
		if c.there[d] && d != to {
			c.before(d, latest, to, done.Exit)
		}
	}
}

// enterBarrier notes the last to enter of each domain.
func (c *causes) enterBarrier(op *match.Collective) {
	c.barrier, c.latest, c.there = op.Number, make([]int64, c.n), make([]bool, c.n)
	for i := range op.Parts {
		if p := &op.Parts[i]; p.Present() {
			d := c.of[p.Post.Row]
			if !c.there[d] || p.Post.Enter > c.latest[d] {
				c.latest[d], c.there[d] = p.Post.Enter, true
			}
		}
	}
}

// Settled implements match.Handler.
func (c *causes) Settled(*match.Completion) {}
