package accounts

import "github.com/cairn-mpi/cairn/trace"

// What a rank had of the CPU while it computed, from what the tracer's threads read of themselves (trace.EvidenceRow): sums
// by computation. Where there is nothing, nothing is known, which is not the same as no delay.

// OffCPU is what the long instances of a computation on one rank were, in nanoseconds.
type OffCPU struct {
	count   uint64
	Wall    int64 // of the instances that were looked at
	cpu     int64
	Delayed int64 // ready to run, without a CPU
	Blocked int64 // neither running nor ready to, and not stolen
	Stolen  int64 // by the hypervisor, which the kernel counts as neither
	Others  int64 // CPU time of the process's other threads meanwhile; −1: not known
	Bytes   int64 // read and written by system calls; −1: not known
	data    int64 // blocked in instances in which data was read or written; −1: not known
}

// evident is the part of a computation's time that evidence has to cover before the rest is taken to be like it.
const evident = 0.5

// minBlockedShare is from which part of the time blocked in which data moves, if that is the reason.
const minBlockedShare = 0.5

// minMeasured is how many instances must have been measured to stand for all.
const minMeasured = 5

// Undelayed is how long a rank computed there, without what it waited for a CPU; known reports whether evidence covers it.
func (a *Account) Undelayed(what Activity) (ns int64, known bool) {
	t := a.Tallies[what]
	if t == nil {
		return 0, true
	}
	o := a.OffCPU[what]
	if o == nil || float64(o.Wall) < evident*float64(t.Ns) {
		return t.Ns, false
	}
	return max(0, t.Ns-o.Delayed), true
}

// HasEvidence reports whether what is known of the CPU covers most of what ranks computed.
func (a *Accounts) HasEvidence() bool {
	covered, all := 0.0, 0.0
	for _, i := range a.MainOf {
		if i < 0 {
			continue
		}
		all += float64(a.Each[i].Compute)
		for _, o := range a.Each[i].OffCPU {
			covered += float64(o.Wall)
		}
	}
	return all > 0 && covered >= evident*all
}

// takeEvidence lays what the threads read of themselves over the computations of each rank.
func (a *Accounts) takeEvidence() {
	if a.Window != nil {
		return // it is counted over all of the run
	}
	a.DelayedCalls = map[Activity]OffCPU{}
	byThread := map[[2]int]int{}
	for i, l := range a.Locations {
		byThread[[2]int{l.Row, l.Thread}] = i
	}
	for row := range a.Ranks {
		for k := range a.Ranks[row].Evidence {
			e := &a.Ranks[row].Evidence[k]
			i, known := byThread[[2]int{row, e.Thread}]
			if !known || e.RunDelayNS == trace.Unknown {
				continue
			}
			if e.After == (trace.CallSite{}) {
				if i == a.MainOf[row] {
					what := Activity{Function: e.Before.Function, Site: e.Before.Site}
					o := a.DelayedCalls[what]
					o.Wall, o.Delayed = o.Wall+e.WallNS, o.Delayed+e.RunDelayNS
					a.DelayedCalls[what] = o
				}
				continue
			}
			account := &a.Each[i]
			if account.OffCPU == nil {
				account.OffCPU = map[Activity]*OffCPU{}
			}
			what := Activity{e.After.Function, e.Before.Function, e.After.Site, e.Before.Site}
			o := account.OffCPU[what]
			if o == nil {
				o = &OffCPU{}
				account.OffCPU[what] = o
			}
			blocked, _ := e.BlockedNS()
			o.count += e.Count
			o.Wall, o.cpu, o.Delayed, o.Blocked = o.Wall+e.WallNS, o.cpu+e.CPUNS, o.Delayed+e.RunDelayNS, o.Blocked+blocked
			o.Others, o.Bytes = plus(o.Others, e.OtherCPUNS), plus(o.Bytes, e.IOBytes)
			o.data = plus(o.data, e.DataNS)
		}
	}
	for i := range a.Each {
		for what, o := range a.Each[i].OffCPU {
			if t := a.Each[i].Tallies[what]; t == nil || !o.standFor(t) {
				delete(a.Each[i].OffCPU, what)
			}
		}
	}
	a.takeSteal()
}

// standFor lets what was measured stand for all instances, if that is enough: the tracer measures some of many.
func (o *OffCPU) standFor(t *Tally) bool {
	switch {
	case o.Wall <= 0 || t.Ns <= 0:
		return false
	case float64(o.Wall) >= evident*float64(t.Ns):
		return true
	case o.count < minMeasured:
		return false
	}
	scale := float64(t.Ns) / float64(o.Wall)
	for _, ns := range []*int64{&o.Wall, &o.cpu, &o.Delayed, &o.Blocked, &o.Others, &o.Bytes, &o.data} {
		if *ns > 0 {
			*ns = int64(scale * float64(*ns))
		}
	}
	return true
}

// MovesData reports whether a rank that was blocked waited for files: data moved in most of that time. A sum of bytes would not
// say so: what a page of the program or a library takes that is loaded once is in it, too.
func (o *OffCPU) MovesData() bool {
	return o.Bytes > 0 && o.data > 0 && float64(o.data) >= minBlockedShare*float64(o.Blocked)
}

// plus adds what may not be known.
func plus(sum, more int64) int64 {
	if sum < 0 || more < 0 {
		return -1
	}
	return sum + more
}
