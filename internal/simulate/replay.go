package simulate

import (
	"fmt"
	"iter"
)

// The replay runs all ranks as coroutines, in the order of simulated time. A rank runs until a call
// must wait, so it may be ahead of the others. It must not observe that:
//
//   - A message arrives by an event at its time.
//   - Receives take messages in the order of arrival, and messages take receives in the order of
//     posting, so that the pairs do not depend on the order of simulation.
//   - A call with a result that depends on what has happened so far (MPI_Waitany) first lets the
//     others catch up (synchronize).

// replay runs the program on all ranks.
func (s *Simulation) replay() error {
	s.collectives = map[instanceKey]*collectiveInstance{}
	s.ranks = make([]*Rank, s.config.Ranks)
	for i := range s.ranks {
		r := s.newRank(i)
		var stop func()
		r.next, stop = iter.Pull(func(yield func(struct{}) bool) {
			r.yield = yield
			s.run(r)
		})
		defer stop()
		s.ranks[i] = r
		s.events.push(event{kind: resumes, rank: r})
	}
	for len(s.events.heap) > 0 {
		e := s.events.pop()
		s.now = e.at
		switch e.kind {
		case resumes:
			s.resume(e.rank)
		case arrives:
			s.arrive(e.message, e.at)
		case completes:
			s.complete(e.request)
		}
	}
	for _, r := range s.ranks {
		if !r.ended {
			return fmt.Errorf("simulate: deadlock: rank %d waits in its call %d (%s:%d)", r.rank, r.calls, s.config.Pattern, r.line)
		}
		s.end = max(s.end, r.now)
	}
	return nil
}

// resume lets a rank run until it waits again.
func (s *Simulation) resume(r *Rank) {
	if _, more := r.next(); !more {
		r.ended = true
	}
}

// block waits until the rank is resumed.
func (r *Rank) block() {
	if !r.yield(struct{}{}) {
		panic(errStopped)
	}
}

// synchronize waits until all events up to the rank's own time have happened.
func (r *Rank) synchronize() {
	if r.yield != nil && r.now > r.sim.now {
		r.sim.events.push(event{at: r.now, kind: resumes, rank: r})
		r.block()
	}
}
