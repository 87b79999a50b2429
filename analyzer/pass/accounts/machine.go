package accounts

import (
	"cmp"

	"github.com/cairn-mpi/cairn/trace"
)

// On a virtual machine the hypervisor takes CPUs away to run other machines (steal). A thread that
// lost its CPU that way is, for the kernel of its machine, neither running nor waiting for a CPU:
// it looks blocked. The steal time of the machine as a whole (trace.ContextSample.StealNS) makes
// the difference visible: it occurs only where ranks had a CPU to lose.

// Machine is the steal and CPU time of all ranks of a machine, in ns; 0 if the steal is not known.
type Machine struct {
	Name        string
	Stolen, Ran float64
	Lasted      float64 // time from the first to the last sample of a rank
}

// Lost returns the time that the hypervisor takes per second of CPU time of a rank.
func (m *Machine) Lost() float64 {
	if m.Ran <= 0 {
		return 0
	}
	return m.Stolen / m.Ran
}

// MachinesOf returns the machine of each rank, by row, and the list of all machines.
func MachinesOf(ranks []trace.Rank) (of, list []*Machine) {
	byName := map[string]*Machine{}
	for i := range ranks {
		r := &ranks[i]
		name := NodeOf(r)
		m := byName[name]
		if m == nil {
			m = &Machine{Name: cmp.Or(r.Node, r.Host)}
			byName[name] = m
			list = append(list, m)
		}
		of = append(of, m)
		if ns, known := r.StealNS(); known {
			m.Stolen = max(m.Stolen, float64(ns))
			m.Ran += float64(ranFor(r))
			m.Lasted = max(m.Lasted, float64(r.Context[len(r.Context)-1].MonotonicNS-r.Context[0].MonotonicNS))
		}
	}
	return of, list
}

// ranFor returns the CPU time of a rank between its first sample and its last one, in ns.
func ranFor(r *trace.Rank) int64 { return r.Context[len(r.Context)-1].CPUNS - r.Context[0].CPUNS }

// takeSteal splits the time that ranks were blocked into steal and the rest. A rank's part of its
// machine's steal is proportional to its CPU time. It is distributed over computations, calls and
// unmeasured time in proportion to their CPU time, bounded by the time they were blocked. Any
// remainder occurred in bursts and is distributed in proportion to the time blocked.
func (a *Accounts) takeSteal() {
	a.Machines, _ = MachinesOf(a.Ranks)
	places := make([][]*OffCPU, len(a.Ranks)) // by row; of all threads
	for i, l := range a.Locations {
		for _, all := range []map[Activity]*OffCPU{a.Each[i].OffCPU, a.Each[i].LongCalls} {
			for _, o := range all {
				places[l.Row] = append(places[l.Row], o)
			}
		}
	}
	for row := range a.Ranks {
		lost, stolen := a.Machines[row].Lost(), a.StolenFrom(row)
		if stolen == 0 {
			continue
		}
		left, unmeasured, blocked := stolen, ranFor(&a.Ranks[row]), int64(0)
		take := func(cpu, most int64) int64 {
			ns := min(int64(lost*float64(cpu)), most)
			left, unmeasured, blocked = left-ns, unmeasured-cpu, blocked+most-ns
			return ns
		}
		for _, o := range places[row] {
			o.Stolen = take(o.cpu, o.Blocked)
		}
		left -= int64(lost * float64(max(0, unmeasured)))
		burst := 0.0
		if blocked > 0 {
			burst = max(0, min(1, float64(left)/float64(blocked)))
		}
		for _, o := range places[row] {
			o.Stolen += int64(burst * float64(o.Blocked-o.Stolen))
			o.Blocked -= o.Stolen
		}
	}
}

// StolenFrom returns a rank's part of the steal of its machine, in ns; 0 if that is not known.
func (a *Accounts) StolenFrom(row int) int64 {
	if _, known := a.Ranks[row].StealNS(); !known || a.Machines == nil {
		return 0
	}
	return int64(a.Machines[row].Lost() * float64(ranFor(&a.Ranks[row])))
}

// NodeOf returns the node that a rank ran on.
func NodeOf(r *trace.Rank) string { return cmp.Or(r.Node, r.BootID, r.Host) }

// Throttling returns how long a rank's container was throttled between its first and its last
// sample, in seconds.
func Throttling(r *trace.Rank) (seconds float64, known bool) {
	if len(r.Context) < 2 {
		return 0, false
	}
	first, last := r.Context[0].ThrottledNS, r.Context[len(r.Context)-1].ThrottledNS
	if first < 0 || last < 0 {
		return 0, false
	}
	return float64(last-first) / 1e9, true
}
