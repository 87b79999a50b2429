package stopped

import (
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// An ability is whether a rank can proceed. The order matters: what needs several ranks has the
// least of their abilities, and what needs one of them has the greatest.
type ability uint8

const (
	cannot ability = iota
	unknown
	can
)

// A rank has stood still if it has been in one call, or has only polled, for longEnough. A rank
// that has been outside MPI for longEnough, and for muchLonger times as long as any rank was
// before, or suspended, is overdue.
const (
	longEnough = 500e6
	muchLonger = 3
)

// markOverdue marks the ranks that are overdue.
func (s *search) markOverdue() {
	longest := int64(0)
	for i := range s.states {
		longest = max(longest, s.states[i].longest)
	}
	for i := range s.states {
		r := &s.states[i]
		lasted := r.died - r.last.exit
		r.overdue = !r.finished && r.last.there && lasted >= longEnough &&
			(r.activity == verdict.Suspended || r.open == nil && lasted >= muchLonger*longest)
	}
}

func overdue(r *state) bool { return r.overdue }

// busy reports whether a rank made calls until the end.
func (s *search) busy(r *state) bool { return !r.finished && s.ended-r.acted < longEnough }

// play determines which ranks could still make progress, if those that are assumed to have this
// ability have it. At first none of them can. Then whatever the abilities of the others allow is
// added, until nothing changes. The ranks that still cannot are a closed set: each of them waits
// for members of the set, for ranks that have ended, or for those that are assumed to do nothing
// more.
func (s *search) play(assumed func(*state) bool, able ability) {
	s.abilities, s.assumed = make([]ability, len(s.states)), map[int]ability{}
	for _, row := range s.rowsOf(assumed) {
		s.assumed[row] = able
	}
	for changed := true; changed; {
		changed = false
		for i := range s.states {
			if now := s.abilityOf(&s.states[i]); now > s.abilities[i] {
				s.abilities[i], changed = now, true
			}
		}
	}
}

// abilityOf returns the ability of a rank: that of the ablest of its threads.
func (s *search) abilityOf(r *state) ability {
	if r.finished {
		return cannot
	}
	able := can
	if assumed, given := s.assumed[r.row]; given {
		able = assumed
	} else if r.open != nil && r.stood() >= longEnough {
		able = s.returns(r.open)
	}
	for _, u := range r.others {
		if u == nil { // a thread that has ended, or that computes
			able = max(able, unknown)
		} else {
			able = max(able, s.returns(u))
		}
	}
	return able
}

// stood returns for how long a rank has been in its call.
func (r *state) stood() int64 { return r.died - r.open.Enter }

// returns returns whether a call can return.
func (s *search) returns(u *match.Unreturned) ability {
	if len(u.Waits) == 0 || s.lost {
		return unknown
	}
	return combine(len(u.Waits), u.Any, func(i int) ability { return s.ends(&u.Waits[i]) })
}

// ends returns whether an operation can end.
func (s *search) ends(w *match.Wait) ability {
	of := func(i int) ability { return s.abilityOfRank(w.For[i]) }
	switch {
	case s.foreign(w.Comm), w.Lock && len(w.For) == 0:
		return unknown
	case w.Collective && s.collectives.mismatchAt(w.Comm, w.Ordinal) != nil:
		return cannot
	case len(w.For) == 0:
		return can
	case w.Lock && w.Peer >= 0:
		return max(combine(len(w.For), true, of), s.abilityOfRank(w.Peer))
	}
	return combine(len(w.For), w.AnyOf, of)
}

// abilityOfRank returns the ability of a rank of MPI_COMM_WORLD. What a rank does that is not in
// the trace is unknown.
func (s *search) abilityOfRank(rank int) ability {
	if row, there := s.rows[rank]; there {
		return s.abilities[row]
	}
	return unknown
}

// combine returns the greatest of n abilities, or the least.
func combine(n int, greatest bool, of func(int) ability) ability {
	all := of(0)
	for i := 1; i < n; i++ {
		if greatest {
			all = max(all, of(i))
		} else {
			all = min(all, of(i))
		}
	}
	return all
}

// foreign reports whether a communicator includes processes of another world, which are not in this
// trace. The name of that world may be unknown, but its processes have no numbers here.
func (s *search) foreign(comm int) bool {
	comms := s.trace.Communicators()
	if comm < 0 || comm >= len(comms) {
		return false
	}
	c := &comms[comm]
	return c.RemoteWorld != "" || slices.ContainsFunc(c.Remote, func(r trace.Run) bool { return r.Start < 0 })
}

// doubt returns why it is not known whether a rank could proceed: "whether anybody connects". It
// returns "" if that depends on other ranks only.
func (s *search) doubt(r *state) string {
	if s.lost {
		return "what the ranks had sent and received, since the trace lacks calls"
	}
	if r.overdue {
		return "" // the sentence says that it made no call
	}
	if r.open != nil && r.stood() >= longEnough {
		if why := s.doubtOf(r.open); why != "" {
			return why
		}
	}
	for _, u := range r.others {
		if u == nil {
			return "whether its other threads could act"
		}
		if why := s.doubtOf(u); why != "" {
			return why
		}
	}
	return ""
}

func (s *search) doubtOf(u *match.Unreturned) string {
	if len(u.Waits) == 0 {
		switch s.trace.Semantics(u.Function).Creation {
		case semantics.FromAccept:
			return "whether anybody connects"
		case semantics.FromConnect:
			return "whether anybody accepts"
		case semantics.FromSpawn:
			return "whether the new processes start"
		case semantics.NoCreation, semantics.FromParent, semantics.FromMerge, semantics.FromMembers, semantics.FromGroup,
			semantics.Intercommunicator, semantics.WithParent, semantics.FromJoin:
		}
		return "what that needs"
	}
	for i := range u.Waits {
		w := &u.Waits[i]
		switch {
		case s.foreign(w.Comm):
			return "what the processes of the other world do"
		case w.Lock && len(w.For) == 0:
			return "who holds the lock"
		}
		for _, rank := range w.For {
			if _, there := s.rows[rank]; !there {
				return "what " + who(trace.NewRankList([]int{rank}).String(), 1) + " does, since the trace lacks it"
			}
		}
	}
	return ""
}
