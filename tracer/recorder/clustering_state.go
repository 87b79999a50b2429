package recorder

import "github.com/cairn-mpi/cairn/trace"

// What a checkpoint has of clustering.

func (c *clustering) encode(e *encoder) {
	if c == nil {
		return
	}
	e.int(int64(c.lead))
	e.bool(c.follows)
	e.bool(c.awaited)
	e.uint(uint64(len(c.strides)))
	for _, s := range c.strides {
		e.uint(s)
	}
	e.uint(uint64(len(c.votes)))
	for i := range c.votes {
		v := &c.votes[i]
		e.bool(v.Explicit)
		e.uint(v.Ordinal)
		e.uint(uint64(v.State))
		e.uint(uint64(len(v.Leads)))
		for _, lead := range v.Leads {
			e.int(int64(lead))
		}
	}
}

func (c *clustering) decode(d *decoder) {
	if c == nil {
		return
	}
	c.lead, c.follows, c.awaited = int(d.int()), d.bool(), d.bool()
	for range d.count() {
		c.strides = append(c.strides, d.uint())
	}
	if len(c.strides) > mostStrides {
		d.fail()
	}
	for range d.count() {
		v := trace.Vote{Explicit: d.bool(), Ordinal: d.uint(), State: trace.VoteState(d.uint())}
		for range d.count() {
			v.Leads = append(v.Leads, int(d.int()))
		}
		if v.State > trace.VoteEnded {
			d.fail()
		}
		c.votes = append(c.votes, v)
	}
}

func (n *interval) encode(e *encoder) {
	e.uint(n.calls)
	e.uint(n.behaviour)
	e.uint(n.exact)
	e.int(n.gap)
	e.int(n.duration)
	e.bool(n.nested)
	e.bool(n.overflowed)
	n.times.gaps.encode(e)
	n.times.durations.encode(e)
}

func (n *interval) decode(d *decoder) {
	n.calls, n.behaviour, n.exact = d.uint(), d.uint(), d.uint()
	n.gap, n.duration = d.int(), d.int()
	n.nested, n.overflowed = d.bool(), d.bool()
	n.times.gaps.decode(d)
	n.times.durations.decode(d)
}

func (y *tally) encode(e *encoder) {
	if y == nil {
		return
	}
	y.now.encode(e)
	y.closed.encode(e)
	y.before.encode(e)
	e.uint(y.stride)
	e.uint(uint64(len(y.marks)))
	last := uint64(0)
	for _, m := range y.marks {
		e.uint(m - last)
		last = m
	}
	e.uint(uint64(len(y.standIns)))
	for i := range y.standIns {
		s := &y.standIns[i]
		e.uint(uint64(s.Vote))
		e.int(int64(s.Lead))
		e.int(s.Gap)
		e.int(s.Duration)
	}
	e.uint(uint64(len(y.holds)))
	for _, h := range y.holds {
		e.uint(h.Call)
		e.int(h.Ticks)
	}
}

func (y *tally) decode(d *decoder) {
	if y == nil {
		return
	}
	y.now.decode(d)
	y.closed.decode(d)
	y.before.decode(d)
	y.stride = d.uint()
	last := uint64(0)
	for range d.count() {
		last += d.uint()
		y.marks = append(y.marks, last)
	}
	before := uint64(0)
	for range d.count() {
		vote := d.uint()
		s := trace.StandIn{Vote: int(vote), Lead: int(d.int()), Gap: d.int(), Duration: d.int()}
		if vote <= before || vote >= uint64(len(y.marks)) || y.marks[vote] < y.marks[vote-1] || y.marks[vote]-y.marks[vote-1] > trace.MaxStandInCalls {
			d.fail()
			return
		}
		before = vote
		y.standIns = append(y.standIns, s)
	}
	for range d.count() {
		h := trace.Hold{Call: d.uint(), Ticks: d.int()}
		if n := len(y.holds); n > 0 && h.Call <= y.holds[n-1].Call || h.Ticks <= 0 {
			d.fail()
			return
		}
		y.holds = append(y.holds, h)
	}
}

// timed is how many calls the thread has times of, or stand-ins for.
func (t *thread) timed() uint64 {
	n := t.blockTimes + t.gaps.n
	if t.tally != nil {
		n += t.tally.now.times.gaps.n + t.tally.closed.times.gaps.n + t.tally.stoodIn()
	}
	return n
}
