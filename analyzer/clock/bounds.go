package clock

import (
	"math"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// unbounded is a bound without information; small enough to be added to another.
const unbounded = math.MaxInt64 / 4

// A pair is two domains: an event in from came before an event in to.
type pair struct{ from, to int }

// A point is a cause and its effect, each on the guessed clock of its own domain: x_from − x_to ≤
// effect − cause.
type point struct{ cause, effect int64 }

func (p point) bound() int64 { return p.effect - p.cause }

// parts is the number of parts of the run for which a pair's bounds are kept: enough to detect a
// drift.
const parts = 256

// A series is the tightest bound of each part of the run. The length of the parts doubles when the
// run outgrows them.
type series struct {
	start, length int64 // start of the first part, and length of each part
	points        []point
}

func (s *series) add(p point) {
	if s.length == 0 {
		s.start, s.length = p.effect, 1_000_000
	}
	// effects come nearly in order of time; earlier ones are not much earlier
	at := max(p.effect, s.start)
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

// known returns the points that have a bound.
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
// Because of rounding, the order may be wrong within the errors, which are added to the effect.
type causes struct {
	of     []int // domain by row
	n      int   // domains
	before func(from int, cause int64, to int, effect int64)

	barrier uint64        // number of the collective that latest belongs to
	latest  []match.Stamp // by domain: entry of its last participant
	any     []bool        // the domain has a participant
}

func (c *causes) report(a *match.Point, b *match.Completion) {
	if from, to := c.of[a.Row], c.of[b.Row]; from != to {
		c.before(from, a.Enter, to, b.Exit+a.EnterError+b.ExitError)
	}
}

// Message implements match.Handler.
func (c *causes) Message(m *match.Message) {
	switch m.Kind {
	case match.ExposedToStart, match.LockGiven:
		return // MPI_Win_start need not wait, and matching of locks depends on times
	case match.Data, match.Partition, match.Exposed, match.Accessed:
	}
	if m.Receive.Done != nil {
		c.report(&m.Send.Post, m.Receive.Done)
	}
	if m.Send.Done != nil && m.Send.Mode == semantics.Synchronous && !m.Receive.Probe {
		c.report(&m.Receive.Post, m.Send.Done)
	}
}

// Collective implements match.Handler.
func (c *causes) Collective(op *match.Collective, part int) {
	switch op.Class {
	case match.Startup, match.Shutdown, match.Prefix, match.AllToOne, match.Neighbor, match.OneToAll, match.Fence, match.Window, match.File:
		// MPI_Init and operations on windows and files need not synchronize; in the others a
		// participant with an empty share may leave early
		return
	case match.Barrier, match.AllToAll:
	}
	if c.barrier != op.Number {
		c.enterBarrier(op)
	}
	done := op.Parts[part].Done
	to := c.of[done.Row]
	for d, latest := range c.latest {
		if c.any[d] && d != to {
			c.before(d, latest.At, to, done.Exit+latest.Error+done.ExitError)
		}
	}
}

// enterBarrier records the last entry of each domain.
func (c *causes) enterBarrier(op *match.Collective) {
	c.barrier, c.latest, c.any = op.Number, make([]match.Stamp, c.n), make([]bool, c.n)
	for i := range op.Parts {
		if p := &op.Parts[i]; p.Present() {
			d := c.of[p.Post.Row]
			if !c.any[d] || p.Post.Enter > c.latest[d].At {
				c.latest[d], c.any[d] = p.Post.EnterStamp(), true
			}
		}
	}
}

// Settled implements match.Handler.
func (c *causes) Settled(*match.Completion) {}
