package clock

import (
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// A Tolerance is by how much the moments of a trace may be off because its times are rounded: on each thread by a share
// of all intervals that were rounded so far, and of the longest that it had lately (trace.TimingRounder, which lets that
// fade by 1/256 with each interval; here it fades at a quarter of that pace, because what has drifted comes back little
// by little). Tell it of every call.
type Tolerance struct {
	percent int64
	threads []spell
}

// A spell is what a thread was at lately.
type spell struct {
	longest int64 // of the intervals, ever
	recent  int64 // and lately
	rounded int64 // sum of those that were rounded
	last    int64
	began   bool
}

// NewTolerance is that of a trace: nothing where times are kept as they were.
func NewTolerance(t timeline.Trace) *Tolerance {
	tolerance := new(Tolerance)
	if m := t.Meta(); m.Timing.Mode == trace.TimingLossy {
		tolerance.percent = int64(m.Timing.WorstError())
		tolerance.threads = make([]spell, t.Threads().Len())
	}
	return tolerance
}

// See takes the next call of a location.
func (t *Tolerance) See(c *timeline.Record) {
	if t.percent == 0 {
		return
	}
	s := &t.threads[c.Location]
	if s.began {
		s.lasted(c.Enter - s.last)
	}
	s.lasted(c.Exit - c.Enter)
	s.began, s.last = true, c.Exit
}

func (s *spell) lasted(ns int64) {
	s.recent = max(s.recent-s.recent>>10, ns)
	if ns < 2*s.longest { // else it is kept as it is
		s.rounded += max(0, ns)
	}
	s.longest = max(s.longest, ns)
}

// off is by how much the thread's moments may be, times 100 over the error in per cent.
func (s *spell) off() int64 { return min(s.recent, s.rounded) }

// Between is by how much the times of two locations may disagree.
func (t *Tolerance) Between(a, b int) int64 {
	if t.percent == 0 {
		return 0
	}
	return (t.threads[a].off() + t.threads[b].off()) * t.percent / 100
}
