package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// busyKernel is ranks for which the kernel works in a region, all of them or too many to be an
// exception: it hands out memory, or serves their system calls.
type busyKernel struct{}

// suggest assumes that the kernel does no work in the region in which it works longest, nor in
// those like it.
func (busyKernel) suggest(e *evidence) []Hypothesis {
	where, set, all := longestOf(e, systemTime)
	if len(set) == 0 || !e.isWorthIt(int64(set[0].Useful*1e9)) || all > 1 && e.AreFew(&outliers.Suspicion{Set: set}) || yielding(e) != nil {
		return nil
	}
	named := set
	if len(set) == all && all > 1 {
		named = nil // all alike
	}
	sum, wall, faults, bytes, only := int64(0), int64(0), int64(0), int64(0), map[int]bool{}
	count := uint64(0)
	for _, w := range set {
		i := e.MainOf[w.Row]
		o, t := e.Each[i].OffCPU[where], e.Each[i].Tallies[where]
		only[i] = true
		sum, wall, faults = sum+systemTime(o), wall+t.Ns, faults+max(0, o.MinorFaults)+max(0, o.MajorFaults)
		bytes, count = bytes+max(0, o.Bytes), count+t.Count
	}
	n := float64(count)
	h := Hypothesis{width: allRanks, Cause: e.causeOf(verdict.Kernel, named, where)}
	h.Cause.Form, h.Cause.Of = verdict.SystemTime, int(count)/len(set)
	h.Cause.EachSeconds, h.Cause.SystemSeconds = accounts.Seconds(wall)/n, accounts.Seconds(sum)/n
	switch {
	case float64(bytes)*perByte >= mentioned*float64(sum): // also by faults, if files are mapped
		h.Cause.Bytes = float64(bytes) / n
		setLimitHits(e, &h.Cause, set)
	case float64(faults)*pageFault >= mentioned*float64(sum):
		h.Cause.PageFaults = max(1, float64(faults)/n)
	}
	like := regionsLike(e, where, systemTime)
	if len(like) > 1 {
		h.Cause.Regions = len(like)
	}
	for _, w := range set {
		for what := range like {
			if o := e.Each[e.MainOf[w.Row]].OffCPU[what]; o != nil {
				h.Cause.KernelSeconds += accounts.Seconds(systemTime(o)) / float64(len(set))
			}
		}
	}
	h.change = without(e, only, func(what accounts.Activity) bool { return like[what] }, systemTime)
	h.What = "the kernel did no work for " + h.Cause.Who() + " " + verdict.Between(h.Cause.After, h.Cause.Before)
	if n := len(like); n > 1 {
		h.What += " and in " + wording.Count(n-1, "region like it", "regions like it")
	}
	h.Assumes = "These computations take as long as without CPU time in the kernel; calls keep their own cost, waiting follows."
	return []Hypothesis{h}
}

// systemTime returns the CPU time in the kernel, 0 if it is not known.
func systemTime(o *accounts.OffCPU) int64 {
	ns, _ := o.System()
	return ns
}

// yielding returns the ranks that are in the kernel for most of a region, without being blocked,
// page faults or data, while others compute there; nil if there are none. They may poll for what
// these do, and yield the CPU each time. Nothing tells how long they would take without that.
func yielding(e *evidence) *verdict.Cause {
	where, set, all := longestOf(e, systemTime)
	if len(set) == 0 || len(set) == all || set[0].Useful < muchLonger*accounts.Seconds(e.Run()) {
		return nil
	}
	wall, system, compute := int64(0), int64(0), false
	for _, w := range set {
		o := e.Each[e.MainOf[w.Row]].OffCPU[where]
		ns, idle := float64(systemTime(o)), float64(o.Blocked+o.Stolen+o.Threads)
		faults, data := float64(max(0, o.MinorFaults)+max(0, o.MajorFaults))*hugeFault, float64(max(0, o.Bytes))*perByte
		if ns < explains*float64(o.Wall) || idle >= mentioned*float64(o.Wall) || faults+data >= mentioned*ns {
			return nil
		}
		wall, system = wall+o.Wall, system+systemTime(o)
	}
	for _, w := range outliers.Except(e.everyone(), set) {
		if o := e.Each[e.MainOf[w.Row]].OffCPU[where]; o != nil {
			ns, known := o.System()
			compute = compute || known && float64(ns) < mentioned*float64(o.Wall) && float64(o.Wall)*float64(len(set)) >= explains*float64(wall)
		}
	}
	if !compute {
		return nil
	}
	c, n := e.causeOf(verdict.Kernel, set, where), float64(len(set))
	c.EachSeconds, c.SystemSeconds = accounts.Seconds(wall)/n, accounts.Seconds(system)/n
	return &c
}

// regionsLike returns the regions in which all ranks together have a part of the measured time, not
// much less than in the region in which they have most.
func regionsLike(e *evidence, most accounts.Activity, part func(*accounts.OffCPU) int64) map[accounts.Activity]bool {
	sums, like := sumsOf(e, part), map[accounts.Activity]bool{}
	for what, ns := range sums {
		if float64(ns) >= minOfMost*float64(sums[most]) {
			like[what] = true
		}
	}
	return like
}
