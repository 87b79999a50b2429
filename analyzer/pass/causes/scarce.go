package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
)

// Bounds by CPUs. In the replay a rank computes as soon as it can continue. On a machine with fewer
// CPUs than ranks these take turns. Whatever else is improved, the run takes at least their total
// computation divided by the number of CPUs, plus its start and end.

// scarceCPUs holds the machines that have fewer CPUs than ranks.
type scarceCPUs struct {
	machines []scarceMachine
	run      int64 // measured duration, in ns
	ends     int64 // time of start and end on the path
}

type scarceMachine struct {
	cpus  int
	ranks []scarceRank
}

// A scarceRank is the computation of a rank's main thread, in ns, and the part of it with a CPU.
type scarceRank struct {
	location      int
	compute, busy int64
}

// findScarce finds those machines. The CPUs of a machine are those on which its ranks were seen: as
// ranks had to wait for one, they cannot use others.
func findScarce(e *evidence) scarceCPUs {
	s := scarceCPUs{run: e.Run(), ends: e.startAndEnd()}
	if !e.HasEvidence() {
		return s
	}
	type machine struct {
		scarceMachine
		seen             map[int64]bool
		compute, delayed int64
	}
	machines, names := map[string]*machine{}, []string(nil)
	for row, i := range e.MainOf {
		if i < 0 {
			continue
		}
		name := accounts.NodeOf(&e.Ranks[row])
		m := machines[name]
		if m == nil {
			m = &machine{seen: map[int64]bool{}}
			machines[name], names = m, append(names, name)
		}
		for k := range e.Ranks[row].Context {
			if cpu := e.Ranks[row].Context[k].CPU; cpu >= 0 {
				m.seen[cpu] = true
			}
		}
		delayed, blocked := int64(0), int64(0)
		for _, o := range e.Each[i].OffCPU {
			delayed, blocked = delayed+o.Delayed+o.Stolen, blocked+o.Blocked
		}
		compute := e.Each[i].Compute
		m.compute, m.delayed = m.compute+compute, m.delayed+delayed
		m.ranks = append(m.ranks, scarceRank{i, compute, max(0, compute-delayed-blocked)})
	}
	for _, name := range names {
		m := machines[name]
		m.cpus = len(m.seen)
		if m.cpus == 0 || m.cpus >= len(m.ranks) || float64(m.delayed) < scarceDelay*float64(m.compute) {
			continue
		}
		if m.least(nil)+s.ends <= s.run { // otherwise it has more CPUs than were seen
			s.machines = append(s.machines, m.scarceMachine)
		}
	}
	return s
}

// least returns how long the ranks of a machine compute if they take turns, in ns. longer (nil: all
// 0) is the change of each location's computation; a reduction may come from time that a rank was
// blocked.
func (m *scarceMachine) least(longer []int64) int64 {
	busy := int64(0)
	for _, r := range m.ranks {
		if longer == nil {
			busy += r.busy
		} else {
			busy += max(0, min(r.busy, r.compute+longer[r.location]))
		}
	}
	return busy / int64(m.cpus)
}

// least returns the minimum duration of the run under a hypothesis, 0 if the CPUs suffice or the
// hypothesis is about them.
func (s *scarceCPUs) least(h *Hypothesis, longer []int64) (ns int64) {
	if h.Cause.IsOfWaits() {
		return 0
	}
	for i := range s.machines {
		ns = max(ns, min(s.run, s.machines[i].least(longer)+s.ends))
	}
	return ns
}
