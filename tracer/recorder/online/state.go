package online

import (
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
)

// The part of a checkpoint with the state of clustering.

// Visit visits the state of the process.
func (c *Clustering) Visit(v checkpoint.Visitor) {
	if c == nil {
		return
	}
	checkpoint.Int(v, &c.lead)
	v.Bool(&c.follows, &c.pending)
	checkpoint.List(v, &c.strides, func(s *uint64) { checkpoint.Uint(v, s) })
	v.Check(len(c.strides) <= maxStrides)
	checkpoint.List(v, &c.votes, func(vote *trace.Vote) {
		v.Bool(&vote.Explicit)
		checkpoint.Uint(v, &vote.Ordinal)
		checkpoint.Uint(v, &vote.State)
		v.Check(vote.State <= trace.VoteEnded)
		checkpoint.List(v, &vote.Leads, func(lead *int) { checkpoint.Int(v, lead) })
	})
}

// Intervals returns the current interval, the closed one and the one before it.
func (y *Tally) Intervals() [3]*Interval { return [3]*Interval{&y.now, &y.closed, &y.before} }

// Visit visits an interval.
func (n *Interval) Visit(v checkpoint.Visitor) {
	checkpoint.Uint(v, &n.calls, &n.behavior, &n.exact)
	checkpoint.Int(v, &n.gap, &n.duration)
	v.Bool(&n.nested, &n.overflowed)
}

// Visit visits a tally without its intervals.
func (y *Tally) Visit(v checkpoint.Visitor) {
	v.Bool(&y.broken)
	checkpoint.Uint(v, &y.stride)
	last := uint64(0)
	checkpoint.List(v, &y.marks, func(m *uint64) {
		since := *m - last
		checkpoint.Uint(v, &since)
		last += since
		*m = last
	})
	before := 0
	checkpoint.List(v, &y.extrapolations, func(s *trace.Extrapolation) {
		checkpoint.Uint(v, &s.Vote)
		checkpoint.Int(v, &s.Lead)
		checkpoint.Int(v, &s.Gap, &s.Duration)
		v.Check(s.Vote > before && s.Vote < len(y.marks) && y.marks[s.Vote] >= y.marks[s.Vote-1] &&
			y.marks[s.Vote]-y.marks[s.Vote-1] <= trace.MaxExtrapolatedCalls)
		before = s.Vote
	})
	checkpoint.List(v, &y.holds, func(h *trace.Overhead) {
		checkpoint.Uint(v, &h.Call)
		checkpoint.Int(v, &h.Ticks)
		v.Check(h.Ticks > 0)
	})
	for i := 1; i < len(y.holds); i++ {
		v.Check(y.holds[i].Call > y.holds[i-1].Call)
	}
}
