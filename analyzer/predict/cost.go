package predict

import "github.com/cairn-mpi/cairn/analyzer/eventlog"

// A cost is the time that a call itself takes. local is counted from its entry, if nothing delays
// it; transfer is counted from its dependency, if that is late. A call in a trace shows one of the
// two: exit − entry, or exit − dependency. The other one is needed if the roles change in a
// scenario. It is the minimum over the calls of the same class in the whole run (eventlog.Least),
// but not so large that it would make the call longer than it was. If a call came after its
// dependency, but before the minimum transfer had passed, it shows the transfer: the message was in
// flight.
//
// A transfer that takes longer than others of its class was disturbed, mostly by the wait itself: a
// rank that spins or sleeps for long loses its CPU, and a message that arrives then is late. So the
// excess over the minimum of its class is proportional to the wait in a scenario: all of it if the
// wait is as long as it was, nothing if there is no wait.
type cost struct {
	local, transfer int64
	undisturbed     int64 // of the transfer
	waited          int64 // as measured
}

// within returns the transfer after a wait of this length.
func (c *cost) within(waited int64) int64 {
	if waited >= c.waited || c.waited <= 0 {
		return c.transfer
	}
	return c.undisturbed + int64(float64(c.transfer-c.undisturbed)*float64(max(0, waited))/float64(c.waited))
}

// scaled returns a fraction of the cost.
func (c cost) scaled(by float64) cost {
	part := func(ns int64) int64 { return int64(by * float64(ns)) }
	return cost{part(c.local), part(c.transfer), part(c.undisturbed), c.waited}
}

// latest returns the time of the last dependency of the call, and whether the call waited for it.
func (s *step) latest() (at int64, waited bool) {
	at = s.begin
	for i := range s.depends {
		if d := s.depends[i].on.real; i == 0 || d > at {
			at = d
		}
	}
	return at, at > s.begin
}

// cost returns the cost of a call. As measured, it ends when it did.
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
		all.Transfer = s.exit - s.begin // the best available estimate
	} else if all.Transfer > s.begin-at && all.Local != eventlog.Unseen && all.Local < s.exit-s.begin {
		return cost{all.Local, s.exit - at, s.exit - at, 0} // its dependency was still in flight
	}
	transfer := min(all.Transfer, s.exit-at)
	return cost{s.exit - s.begin, transfer, transfer, 0}
}
