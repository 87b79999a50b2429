package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// What CPUs allow. The replay lets a rank compute whenever it can go on. Where a machine has fewer CPUs than ranks, these take
// turns, and whatever else is mended: the run lasts for what they compute, divided by the CPUs, and for its start and its end.

// scarceDelay is the part of what ranks of a machine compute for which they wait for a CPU, from where on CPUs are scarce.
const scarceDelay = 0.05

// scarceCPUs are the machines that have fewer CPUs than ranks.
type scarceCPUs struct {
	machines []scarceMachine
	run      int64 // as it was, in ns
	ends     int64 // its start and end, on the path
}

type scarceMachine struct {
	cpus  int
	ranks []scarceRank
}

// A scarceRank is what the first thread of a rank computes, in ns, and for how long of that it has a CPU.
type scarceRank struct {
	location      int
	compute, busy int64
}

// scarceCPUs finds them. The CPUs of a machine are those on which its ranks were seen: if they have to wait for one, there are
// no others for them.
func (a *search) scarceCPUs() scarceCPUs {
	s := scarceCPUs{run: a.Run(), ends: a.startAndEnd()}
	if !a.HasEvidence() {
		return s
	}
	type machine struct {
		scarceMachine
		seen             map[int64]bool
		compute, delayed int64
	}
	machines, names := map[string]*machine{}, []string(nil)
	for row, i := range a.MainOf {
		if i < 0 {
			continue
		}
		name := accounts.NodeOf(&a.Ranks[row])
		m := machines[name]
		if m == nil {
			m = &machine{seen: map[int64]bool{}}
			machines[name], names = m, append(names, name)
		}
		for k := range a.Ranks[row].Context {
			if cpu := a.Ranks[row].Context[k].CPU; cpu >= 0 {
				m.seen[cpu] = true
			}
		}
		delayed, blocked := int64(0), int64(0)
		for _, o := range a.Each[i].OffCPU {
			delayed, blocked = delayed+o.Delayed+o.Stolen, blocked+o.Blocked
		}
		compute := a.Each[i].Compute
		m.compute, m.delayed = m.compute+compute, m.delayed+delayed
		m.ranks = append(m.ranks, scarceRank{i, compute, max(0, compute-delayed-blocked)})
	}
	for _, name := range names {
		m := machines[name]
		m.cpus = len(m.seen)
		if m.cpus == 0 || m.cpus >= len(m.ranks) || float64(m.delayed) < scarceDelay*float64(m.compute) {
			continue
		}
		if m.least(nil)+s.ends <= s.run { // else it has more CPUs than were seen
			s.machines = append(s.machines, m.scarceMachine)
		}
	}
	return s
}

// least is for how long the ranks of a machine compute if they take turns, in ns. Longer (nil: as it was) is by how much longer
// each location computes; what a rank computes less may be what it was blocked for.
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

// least is how long the run takes at least with a hypothesis; 0 if the CPUs suffice, or it is about them.
func (s *scarceCPUs) least(h *Hypothesis, longer []int64) (ns int64) {
	switch {
	case h.Cause.Kind == verdict.CPUs, h.Cause.Form == verdict.Preempted, h.Cause.Form == verdict.Stolen:
		return 0
	}
	for i := range s.machines {
		ns = max(ns, min(s.run, s.machines[i].least(longer)+s.ends))
	}
	return ns
}
