package online

import (
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
)

// The part of a checkpoint with the state of clustering.

// Encode writes the state of the process.
func (c *Clustering) Encode(e *checkpoint.Encoder) {
	if c == nil {
		return
	}
	e.Int(int64(c.lead))
	e.Bool(c.follows)
	e.Bool(c.pending)
	e.Uint(uint64(len(c.strides)))
	for _, s := range c.strides {
		e.Uint(s)
	}
	e.Uint(uint64(len(c.votes)))
	for i := range c.votes {
		v := &c.votes[i]
		e.Bool(v.Explicit)
		e.Uint(v.Ordinal)
		e.Uint(uint64(v.State))
		e.Uint(uint64(len(v.Leads)))
		for _, lead := range v.Leads {
			e.Int(int64(lead))
		}
	}
}

// Decode reads what Encode wrote.
func (c *Clustering) Decode(d *checkpoint.Decoder) {
	if c == nil {
		return
	}
	c.lead, c.follows, c.pending = int(d.Int()), d.Bool(), d.Bool()
	for range d.Count() {
		c.strides = append(c.strides, d.Uint())
	}
	if len(c.strides) > maxStrides {
		d.Fail()
	}
	for range d.Count() {
		v := trace.Vote{Explicit: d.Bool(), Ordinal: d.Uint(), State: trace.VoteState(d.Uint())}
		for range d.Count() {
			v.Leads = append(v.Leads, int(d.Int()))
		}
		if v.State > trace.VoteEnded {
			d.Fail()
		}
		c.votes = append(c.votes, v)
	}
}

// Intervals returns the current interval, the closed one and the one before it.
func (y *Tally) Intervals() [3]*Interval { return [3]*Interval{&y.now, &y.closed, &y.before} }

// Encode writes an interval.
func (n *Interval) Encode(e *checkpoint.Encoder) {
	e.Uint(n.calls)
	e.Uint(n.behavior)
	e.Uint(n.exact)
	e.Int(n.gap)
	e.Int(n.duration)
	e.Bool(n.nested)
	e.Bool(n.overflowed)
}

// Decode reads what Encode wrote.
func (n *Interval) Decode(d *checkpoint.Decoder) {
	n.calls, n.behavior, n.exact = d.Uint(), d.Uint(), d.Uint()
	n.gap, n.duration = d.Int(), d.Int()
	n.nested, n.overflowed = d.Bool(), d.Bool()
}

// Encode writes a tally without its intervals.
func (y *Tally) Encode(e *checkpoint.Encoder) {
	e.Bool(y.broken)
	e.Uint(y.stride)
	e.Uint(uint64(len(y.marks)))
	last := uint64(0)
	for _, m := range y.marks {
		e.Uint(m - last)
		last = m
	}
	e.Uint(uint64(len(y.extrapolations)))
	for i := range y.extrapolations {
		s := &y.extrapolations[i]
		e.Uint(uint64(s.Vote))
		e.Int(int64(s.Lead))
		e.Int(s.Gap)
		e.Int(s.Duration)
	}
	e.Uint(uint64(len(y.holds)))
	for _, h := range y.holds {
		e.Uint(h.Call)
		e.Int(h.Ticks)
	}
}

// Decode reads what Encode wrote.
func (y *Tally) Decode(d *checkpoint.Decoder) {
	y.broken, y.stride = d.Bool(), d.Uint()
	last := uint64(0)
	for range d.Count() {
		last += d.Uint()
		y.marks = append(y.marks, last)
	}
	before := uint64(0)
	for range d.Count() {
		vote := d.Uint()
		s := trace.Extrapolation{Vote: int(vote), Lead: int(d.Int()), Gap: d.Int(), Duration: d.Int()}
		if vote <= before || vote >= uint64(len(y.marks)) || y.marks[vote] < y.marks[vote-1] || y.marks[vote]-y.marks[vote-1] > trace.MaxExtrapolatedCalls {
			d.Fail()
			return
		}
		before = vote
		y.extrapolations = append(y.extrapolations, s)
	}
	for range d.Count() {
		h := trace.Overhead{Call: d.Uint(), Ticks: d.Int()}
		if n := len(y.holds); n > 0 && h.Call <= y.holds[n-1].Call || h.Ticks <= 0 {
			d.Fail()
			return
		}
		y.holds = append(y.holds, h)
	}
}
