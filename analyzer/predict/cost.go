package predict

import "github.com/cairn-mpi/cairn/analyzer/eventlog"

// A cost is what a call takes itself: local, counted from its entry, when nothing keeps it waiting; transfer, counted
// from what it depends on, when that comes late. A call in a trace shows one of the two: exit − entry, or exit −
// dependency. The other one, needed when the roles change in a scenario, is the least that calls of the same class show
// in the whole run (event log.Least), and no more than leaves the call as long as it was. Of a call that came after what it
// depends on, but before the least transfer had passed, it is the transfer that shows: the message was under way.
//
// A transfer that takes longer than others of its class was disturbed, and mostly by the wait itself: a rank that spins
// or sleeps for long loses its processor, and a message that finds it so is late. What it took beyond the least of its
// class lasts as long, in a scenario, as the wait does: all of it where that is as long as it was, nothing where nobody
// waits any more.
type cost struct {
	local, transfer int64
	undisturbed     int64 // of the transfer
	waited          int64 // as measured
}

// within is the transfer after a wait of this length.
func (c *cost) within(waited int64) int64 {
	if waited >= c.waited || c.waited <= 0 {
		return c.transfer
	}
	return c.undisturbed + int64(float64(c.transfer-c.undisturbed)*float64(max(0, waited))/float64(c.waited))
}

// latest is the last of what the call depended on, and whether that kept it waiting.
func (s *step) latest() (at int64, waited bool) {
	at = s.begin
	for i := range s.depends {
		if d := s.depends[i].on.real; i == 0 || d > at {
			at = d
		}
	}
	return at, at > s.begin
}

// cost is that of a call: as measured, it ends when it did.
func (p *player) cost(s *step) cost {
	if len(s.depends) == 0 || s.outside {
		return cost{local: s.exit - s.begin}
	}
	bytes := int64(0)
	for i := range s.depends {
		bytes = max(bytes, s.depends[i].bytes)
	}
	all := p.log.Least(s.terminal, bytes)
	at, waited := s.latest()
	if waited {
		local := int64(0)
		if all.Local != eventlog.Unseen {
			local = min(all.Local, s.exit-s.begin)
		}
		return cost{local, s.exit - at, min(all.Transfer, s.exit-at), at - s.begin}
	}
	if all.Transfer == eventlog.Unseen {
		all.Transfer = s.exit - s.begin // the best guess there is
	} else if all.Transfer > s.begin-at && all.Local != eventlog.Unseen && all.Local < s.exit-s.begin {
		return cost{all.Local, s.exit - at, s.exit - at, 0} // what it depended on was still under way
	}
	transfer := min(all.Transfer, s.exit-at)
	return cost{s.exit - s.begin, transfer, transfer, 0}
}
