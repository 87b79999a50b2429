package criticalpath

import "github.com/cairn-mpi/cairn/trace"

// What a rank had of the CPU while it computed, from what the tracer's threads read of themselves (trace.EvidenceRow): sums
// by computation. Where there is nothing, nothing is known, which is not the same as no delay.

// offCPU is what the long instances of a computation on one rank were, in nanoseconds.
type offCPU struct {
	count   uint64
	wall    int64 // of the instances that were looked at
	cpu     int64
	delayed int64 // ready to run, without a CPU
	blocked int64 // neither running nor ready to, and not stolen
	stolen  int64 // by the hypervisor, which the kernel counts as neither
	others  int64 // CPU time of the process's other threads meanwhile; −1: not known
	bytes   int64 // read and written by system calls; −1: not known
	data    int64 // blocked in instances in which data was read or written; −1: not known
}

// evident is the part of a computation's time that evidence has to cover before the rest is taken to be like it.
const evident = 0.5

// mostOfBlocked is the part of the time blocked in which data moves, if that is the reason.
const mostOfBlocked = 0.5

// minMeasured is how many instances must have been measured to stand for all.
const minMeasured = 5

// undelayed is how long a rank computed there, without what it waited for a CPU; known reports whether evidence covers it.
func (a *account) undelayed(what activity) (ns int64, known bool) {
	t := a.tallies[what]
	if t == nil {
		return 0, true
	}
	o := a.offCPU[what]
	if o == nil || float64(o.wall) < evident*float64(t.ns) {
		return t.ns, false
	}
	return max(0, t.ns-o.delayed), true
}

// hasEvidence reports whether what is known of the CPU covers most of what ranks computed.
func (a *allAccounts) hasEvidence() bool {
	covered, all := 0.0, 0.0
	for _, i := range a.mainOf {
		if i < 0 {
			continue
		}
		all += float64(a.each[i].compute)
		for _, o := range a.each[i].offCPU {
			covered += float64(o.wall)
		}
	}
	return all > 0 && covered >= evident*all
}

// takeEvidence lays what the threads read of themselves over the computations of each rank.
func (a *allAccounts) takeEvidence() {
	if a.window != nil {
		return // it is counted over all of the run
	}
	a.delayedCalls = map[activity]offCPU{}
	byThread := map[[2]int]int{}
	for i, l := range a.locations {
		byThread[[2]int{l.Row, l.Thread}] = i
	}
	for row := range a.ranks {
		for k := range a.ranks[row].Evidence {
			e := &a.ranks[row].Evidence[k]
			i, known := byThread[[2]int{row, e.Thread}]
			if !known || e.RunDelayNS == trace.Unknown {
				continue
			}
			if e.After == (trace.CallPlace{}) {
				if i == a.mainOf[row] {
					what := activity{function: e.Before.Function, site: e.Before.Site}
					o := a.delayedCalls[what]
					o.wall, o.delayed = o.wall+e.WallNS, o.delayed+e.RunDelayNS
					a.delayedCalls[what] = o
				}
				continue
			}
			account := &a.each[i]
			if account.offCPU == nil {
				account.offCPU = map[activity]*offCPU{}
			}
			what := activity{e.After.Function, e.Before.Function, e.After.Site, e.Before.Site}
			o := account.offCPU[what]
			if o == nil {
				o = &offCPU{}
				account.offCPU[what] = o
			}
			blocked, _ := e.BlockedNS()
			o.count += e.Count
			o.wall, o.cpu, o.delayed, o.blocked = o.wall+e.WallNS, o.cpu+e.CPUNS, o.delayed+e.RunDelayNS, o.blocked+blocked
			o.others, o.bytes = plus(o.others, e.OtherCPUNS), plus(o.bytes, e.IOBytes)
			o.data = plus(o.data, e.DataNS)
		}
	}
	for i := range a.each {
		for what, o := range a.each[i].offCPU {
			if t := a.each[i].tallies[what]; t == nil || !o.standFor(t) {
				delete(a.each[i].offCPU, what)
			}
		}
	}
	a.takeSteal()
}

// standFor lets what was measured stand for all instances, if that is enough: the tracer measures some of many.
func (o *offCPU) standFor(t *tally) bool {
	switch {
	case o.wall <= 0 || t.ns <= 0:
		return false
	case float64(o.wall) >= evident*float64(t.ns):
		return true
	case o.count < minMeasured:
		return false
	}
	scale := float64(t.ns) / float64(o.wall)
	for _, ns := range []*int64{&o.wall, &o.cpu, &o.delayed, &o.blocked, &o.others, &o.bytes, &o.data} {
		if *ns > 0 {
			*ns = int64(scale * float64(*ns))
		}
	}
	return true
}

// movesData reports whether a rank that was blocked waited for files: data moved in most of that time. A sum of bytes would not
// say so: what a page of the program or a library takes that is loaded once is in it, too.
func (o *offCPU) movesData() bool {
	return o.bytes > 0 && o.data > 0 && float64(o.data) >= mostOfBlocked*float64(o.blocked)
}

// plus adds what may not be known.
func plus(sum, more int64) int64 {
	if sum < 0 || more < 0 {
		return -1
	}
	return sum + more
}
