package accounts

import (
	"cmp"

	"github.com/cairn-mpi/cairn/trace"
)

// On a virtual machine the hypervisor takes CPUs away, and runs other machines meanwhile (steal). A thread that has lost its
// CPU so neither runs nor waits for one, as its own machine counts it: it looks blocked in the kernel. What the machine as a
// whole lost (trace.ContextSample.StealNS) tells that apart: it lies where ranks had a CPU to lose.

// Machine is what all ranks of one have lost and run together, in ns; nothing where the steal is not known.
type Machine struct {
	Name        string
	Stolen, Ran float64
	Lasted      float64 // from the first sample of a rank to its last one
}

// Lost is what the hypervisor takes while a rank has a CPU for one second.
func (m *Machine) Lost() float64 {
	if m.Ran <= 0 {
		return 0
	}
	return m.Stolen / m.Ran
}

// MachinesOf are the machines of ranks, by row, and each one once.
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

// ranFor is the CPU time of a rank between its first sample and its last one, in ns.
func ranFor(r *trace.Rank) int64 { return r.Context[len(r.Context)-1].CPUNS - r.Context[0].CPUNS }

// takeSteal tells of what ranks were blocked for what was stolen. A rank's part of its machine's steal goes with its CPU time.
// It lies in computations, in calls and in what nobody measured in proportion to their CPU time, but no more of it in a place
// than that was blocked for. What is left then came in bursts, and lies where ranks were blocked.
func (a *Accounts) takeSteal() {
	a.Machines, _ = MachinesOf(a.Ranks)
	places := make([][]*OffCPU, len(a.Ranks)) // of all threads
	for i, l := range a.Locations {
		for _, o := range a.Each[i].OffCPU {
			places[l.Row] = append(places[l.Row], o)
		}
	}
	for row := range a.Ranks {
		r, lost := &a.Ranks[row], a.Machines[row].Lost()
		if _, known := r.StealNS(); !known || lost == 0 {
			continue
		}
		ran := ranFor(r)
		left, unmeasured, blocked := int64(lost*float64(ran)), ran, int64(0)
		take := func(cpu, most int64) int64 {
			ns := min(int64(lost*float64(cpu)), most)
			left, unmeasured, blocked = left-ns, unmeasured-cpu, blocked+most-ns
			return ns
		}
		for k := range r.Evidence {
			if e := &r.Evidence[k]; e.After == (trace.CallSite{}) { // a call
				ns, _ := e.BlockedNS()
				take(e.CPUNS, ns)
			}
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

// NodeOf is where a rank ran.
func NodeOf(r *trace.Rank) string { return cmp.Or(r.Node, r.BootID, r.Host) }

// Throttling is for how long a rank's container was stopped between its first and its last sample, in seconds.
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
