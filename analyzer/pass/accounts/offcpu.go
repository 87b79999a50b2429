package accounts

import (
	"math"

	"github.com/cairn-mpi/cairn/trace"
)

// CPU measurements of computations, by the tracer's threads (trace.EvidenceRow): sums by
// computation. Missing measurements mean unknown, which is different from no delay.

// OffCPU sums the measured (long) instances of a computation, or call, on one rank, in nanoseconds.
type OffCPU struct {
	count   uint64
	sampled int64 // duration of the instances that were measured themselves
	Wall    int64 // of the measured instances
	cpu     int64
	Delayed int64 // ready to run, without a CPU
	Blocked int64 // neither running nor runnable, and not stolen, and no other thread of the process ran
	Threads int64 // neither running nor runnable while other threads of the process ran
	InCalls int64 // of Threads: at least one of these was inside MPI
	Stolen  int64 // by the hypervisor; the kernel counts it as neither running nor runnable
	Others  int64 // CPU time of the process's other threads at the same time; −1: not known
	Bytes   int64 // read and written by system calls; −1: not known
	IOCalls int64 // these system calls, in instances that were blocked: a lower bound; −1: not known
	// Usage is what getrusage counted; −1: not known. Its SystemNS is for Usage.SystemTime.
	trace.Usage
	data int64 // blocked in instances in which data was read or written; −1: not known
}

// evident is the fraction of a computation's time that must be measured for the measurements to be
// taken as representative.
const evident = 0.5

// minBlockedShare is the fraction of the blocked time in which data must move to be its reason.
const minBlockedShare = 0.5

// dataBytes is what an instance reads or writes at least if it waits for files (as in the tracer).
const dataBytes = 4096

// minMeasured is the number of instances that must be measured for them to be extrapolated to all.
const minMeasured = 5

// Undelayed returns the time a rank computed there, without its waits for a CPU. known reports
// whether measurements cover it.
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

// Sampled returns the fraction of a computation's time that was measured itself, and is not taken
// to be like that.
func (a *Account) Sampled(what Activity) float64 {
	t, o := a.Tallies[what], a.OffCPU[what]
	if t == nil || o == nil {
		return 0
	}
	return min(1, float64(o.sampled)/float64(max(1, t.Ns)))
}

// HasEvidence reports whether CPU measurements cover most of the computation.
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

// takeEvidence assigns the CPU measurements to the computations of each rank.
func (a *Accounts) takeEvidence() {
	if a.Window != nil {
		return // it is measured over the whole run
	}
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
			account := &a.Each[i]
			if account.OffCPU == nil {
				account.OffCPU, account.LongCalls = map[Activity]*OffCPU{}, map[Activity]*OffCPU{}
			}
			if e.After == (trace.CallSite{}) {
				take(account.LongCalls, Activity{Function: e.Before.Function, Site: e.Before.Site}, e, 1)
				continue
			}
			between := Activity{e.After.Function, e.Before.Function, e.After.Site, e.Before.Site}
			for what, share := range account.regionsOf(between) {
				take(account.OffCPU, what, e, share)
			}
		}
	}
	for i := range a.Each {
		for what, o := range a.Each[i].OffCPU {
			o.sampled = o.Wall
			if t := a.Each[i].Tallies[what]; t == nil || !o.extrapolateApart(t, a.Singles(a.Locations[i].Row, what)) {
				delete(a.Each[i].OffCPU, what)
			}
		}
	}
	a.takeSteal()
	a.takeOwnThreads()
}

// take adds a share of the measurements of a row to those of an activity.
func take(all map[Activity]*OffCPU, what Activity, e *trace.EvidenceRow, share float64) {
	if all[what] == nil {
		all[what] = &OffCPU{}
	}
	all[what].add(e, share)
}

// add adds a share of the measurements of a row.
func (o *OffCPU) add(e *trace.EvidenceRow, share float64) {
	part := func(n int64) int64 {
		if n < 0 || share == 1 {
			return n
		}
		return int64(math.Round(share * float64(n)))
	}
	blocked, _ := e.BlockedNS()
	o.count += uint64(part(int64(e.Count)))
	o.Wall, o.cpu, o.Delayed, o.Blocked = o.Wall+part(e.WallNS), o.cpu+part(e.CPUNS), o.Delayed+part(e.RunDelayNS), o.Blocked+part(blocked)
	o.Others, o.Bytes = plus(o.Others, part(e.OtherCPUNS)), plus(o.Bytes, part(e.IOBytes))
	o.data, o.IOCalls = plus(o.data, part(e.DataNS)), plus(o.IOCalls, part(e.IOCalls))
	o.MinorFaults, o.MajorFaults = plus(o.MinorFaults, part(e.MinorFaults)), plus(o.MajorFaults, part(e.MajorFaults))
	o.VoluntarySwitches = plus(o.VoluntarySwitches, part(e.VoluntarySwitches))
	o.InvoluntarySwitches = plus(o.InvoluntarySwitches, part(e.InvoluntarySwitches))
	o.SystemNS = plus(o.SystemNS, part(e.SystemNS))
}

// LongOffCPU returns the measurements of the count instances of a computation on a rank that took
// longer than ns. It extrapolates from those that the trace has one by one; nil: from too few of
// them.
func (a *Accounts) LongOffCPU(row int, what Activity, ns float64, count int) *OffCPU {
	sum, n := OffCPU{}, 0
	for _, one := range a.Singles(row, what) {
		if float64(one.Wall) >= ns {
			n++
			for k, total := range sum.sums() {
				*total = plus(*total, *one.sums()[k])
			}
		}
	}
	if n == 0 || float64(n) < evident*float64(count) {
		return nil
	}
	sum.scale(float64(count) / float64(n))
	if o := a.Each[a.MainOf[row]].OffCPU[what]; o != nil && o.Stolen+o.Threads > 0 { // how it divides is known in total
		part := float64(sum.Blocked) / float64(o.Blocked+o.Stolen+o.Threads)
		sum.Stolen, sum.Threads = int64(part*float64(o.Stolen)), int64(part*float64(o.Threads))
		sum.Blocked -= sum.Stolen + sum.Threads
	}
	return &sum
}

// Singles returns the measurements of the instances of a computation on a rank that the trace has
// one by one: those that were longest, or longest without a CPU, of all computations of the rank.
func (a *Accounts) Singles(row int, what Activity) (list []OffCPU) {
	r := &a.Ranks[row]
	if a.Window != nil || a.MainOf[row] < 0 {
		return nil
	}
	main := a.MainOf[row]
	for k := range r.Outliers {
		one := &r.Outliers[k]
		e := &r.Evidence[one.Row]
		blocked, known := one.BlockedNS()
		if !known || e.Thread != a.Locations[main].Thread || !a.Each[main].isIn(e, what) {
			continue
		}
		o := OffCPU{Wall: one.WallNS, cpu: one.CPUNS, Delayed: one.RunDelayNS, Blocked: blocked, Bytes: one.IOBytes, IOCalls: -1, Others: -1, Usage: one.Usage}
		if one.IOBytes >= dataBytes {
			o.data = blocked
		}
		list = append(list, o)
	}
	return list
}

// isIn reports whether a row of measurements belongs to a computation.
func (a *Account) isIn(e *trace.EvidenceRow, what Activity) bool {
	if e.After == (trace.CallSite{}) {
		return false
	}
	for region, share := range a.regionsOf(Activity{e.After.Function, e.Before.Function, e.After.Site, e.Before.Site}) {
		if region == what && share > 0.5 {
			return true
		}
	}
	return false
}

// extrapolateApart is extrapolate, but long instances that were measured one by one stand for
// themselves only: they are always measured, the others are a sample.
func (o *OffCPU) extrapolateApart(t *Tally, singles []OffCPU) bool {
	var long OffCPU
	for i := range singles {
		if one := &singles[i]; one.Wall >= alwaysMeasured || float64(one.Wall) >= exceptional*t.Spread.Quantile(0.5) {
			long.count++
			for k, ns := range long.sums() {
				*ns += max(0, *one.sums()[k])
			}
		}
	}
	if long.count == 0 || long.count >= o.count || long.Wall >= o.Wall || long.Wall >= t.Ns {
		return o.extrapolate(t)
	}
	for _, of := range []struct{ all, long *int64 }{{&o.Others, &long.Others}, {&o.IOCalls, &long.IOCalls}} {
		if *of.all > 0 { // not known of single instances
			*of.long = int64(float64(*of.all) * float64(long.Wall) / float64(o.Wall))
		}
	}
	for k, ns := range o.sums() {
		if *ns > 0 {
			*ns = max(0, *ns-*long.sums()[k])
		}
	}
	o.count -= long.count
	if !o.extrapolate(&Tally{Count: t.Count - long.count, Ns: t.Ns - long.Wall}) {
		return false
	}
	o.count += long.count
	for k, ns := range o.sums() {
		if *ns >= 0 {
			*ns += *long.sums()[k]
		}
	}
	return true
}

// alwaysMeasured is how long an instance has to be, in ns, to be measured in any case (as in the
// tracer).
const alwaysMeasured = 100e6

// exceptional is how many times the usual duration an instance takes to stand for itself.
const exceptional = 4

// extrapolate scales the measurements to all instances of t: the tracer measures only some of many
// instances. Few measurements stay as they are, a lower bound. It reports false if there are none.
func (o *OffCPU) extrapolate(t *Tally) bool {
	switch {
	case o.Wall <= 0 || t.Ns <= 0:
		return false
	case float64(o.Wall) >= evident*float64(t.Ns):
		return true
	case o.count < minMeasured && 2*o.count < t.Count:
		return true
	}
	o.scale(float64(t.Ns) / float64(o.Wall))
	return true
}

// sums returns the measurements.
func (o *OffCPU) sums() []*int64 {
	return []*int64{
		&o.Wall, &o.cpu, &o.Delayed, &o.Blocked, &o.Others, &o.Bytes, &o.IOCalls, &o.data,
		&o.MinorFaults, &o.MajorFaults, &o.VoluntarySwitches, &o.InvoluntarySwitches, &o.SystemNS,
	}
}

// scale multiplies the measurements.
func (o *OffCPU) scale(by float64) {
	for _, ns := range o.sums() {
		if *ns > 0 {
			*ns = int64(by * float64(*ns))
		}
	}
}

// MovesData reports whether a blocked rank waited for files: data moved in most of the blocked
// time, and not so little that something else may have blocked it as well. The number of bytes
// alone is not sufficient, because it includes pages of the program or of libraries that are loaded
// once.
func (o *OffCPU) MovesData() bool {
	return o.Bytes > 0 && o.data > 0 && float64(o.data) >= minBlockedShare*float64(o.Blocked) &&
		(o.IOCalls <= 0 || o.data <= slowCall*o.IOCalls || o.data <= slowByte*o.Bytes)
}

// slowCall and slowByte are how long, in ns, a system call on a slow file system takes, and a byte
// that it moves.
const (
	slowCall = 100e6
	slowByte = 1e3
)

// Moved returns the number of bytes for which a blocked rank waited; 0 if it did not wait for
// files.
func (o *OffCPU) Moved() float64 {
	if o.MovesData() {
		return float64(o.Bytes)
	}
	return 0
}

// System returns the CPU time in the kernel. It is not known of less than a second of CPU time.
func (o *OffCPU) System() (ns int64, known bool) { return o.SystemTime(o.cpu) }

// plus adds values that may be unknown.
func plus(sum, more int64) int64 {
	if sum < 0 || more < 0 {
		return -1
	}
	return sum + more
}
