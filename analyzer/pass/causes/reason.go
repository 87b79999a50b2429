package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

// Why ranks compute longer than others: CPU limits, hypervisors, blocking, other threads.

// setReason sets why a rank computes longer, in total or in each instance, if the operating
// system's counters show it: it was throttled or blocked, or another thread was working.
func setReason(e *evidence, c *verdict.Cause, set, others []outliers.Worker, where accounts.Activity, each bool) {
	worst := set[0]
	t := e.TallyOf(worst, where)
	if t == nil {
		return
	}
	usual, theirs := 0.0, whatElse{}
	for _, o := range others {
		u := e.TallyOf(o, where)
		if u == nil {
			continue
		}
		share := 1 / float64(len(others))
		if each { // scale to the same number of instances
			share *= float64(t.Count) / float64(u.Count)
		}
		usual += share * float64(u.Ns)
		theirs.add(e.Each[e.MainOf[o.Row]].OffCPU[where], share)
	}
	excess := float64(t.Ns) - usual
	own := e.Each[e.MainOf[worst.Row]].OffCPU[where]
	if _, known := e.Each[e.MainOf[worst.Row]].Undelayed(where); !known { // otherwise waits for a CPU do not count here
		if stopped := throttledLonger(e, set, others, computing); stopped > 0 {
			c.Form, c.StoppedSeconds = verdict.Stopped, stopped
			return
		}
		if wereDelayed(e, worst, others) {
			c.Form = verdict.Preempted
		}
	}
	if own == nil || excess <= 0 {
		return
	}
	more := theirs.until(own)
	kept := more.blocked + more.stolen
	switch {
	case !own.MovesData() && more.inThread(excess, theirs.others*excess/max(1, usual)):
		if c.Form = verdict.InThread; more.inCalls >= explains*more.waiting && more.inCalls > 0 {
			c.Form = verdict.InCalls
		}
	case kept >= explains*excess && isStolen(e, set, others, kept, more.stolen):
		c.Form, c.StolenSeconds = verdict.Stolen, more.stolen/1e9
	case kept >= explains*excess && kept > more.stolen:
		c.Form, c.BlockedSeconds = verdict.Blocked, (kept-max(0, more.stolen))/1e9
		setWait(e, c, set[:1], others, kept, own.Moved())
	default:
		if _, known := own.System(); known && own.SystemNS > 0 && more.system >= explains*excess {
			c.SystemSeconds = more.system / float64(t.Count) / 1e9
		}
		if more.faults*pageFault >= mentioned*excess {
			c.PageFaults = max(1, more.faults/float64(t.Count))
		}
	}
}

// whatElse is what happened while ranks did not compute, or beside it, in ns.
type whatElse struct {
	blocked, stolen float64
	waiting         float64 // for other threads of the process
	inCalls         float64 // of waiting: while one of these was inside MPI
	others          float64 // CPU time of the process's other threads
	system          float64 // CPU time in the kernel,
	faults          float64 // and the number of page faults
	delayed         float64 // ready to run, without a CPU
}

func (w *whatElse) add(o *accounts.OffCPU, share float64) {
	if o != nil {
		w.blocked, w.stolen = w.blocked+share*float64(o.Blocked), w.stolen+share*float64(o.Stolen)
		w.waiting, w.inCalls = w.waiting+share*float64(o.Threads), w.inCalls+share*float64(o.InCalls)
		w.others += share * float64(max(0, o.Others))
		w.system += share * float64(max(0, o.SystemNS))
		w.faults += share * float64(max(0, o.MinorFaults)+max(0, o.MajorFaults))
		w.delayed += share * float64(o.Delayed)
	}
}

// until returns how much more a rank has.
func (w *whatElse) until(o *accounts.OffCPU) (more whatElse) {
	more.add(o, 1)
	return whatElse{
		more.blocked - w.blocked, more.stolen - w.stolen,
		more.waiting - w.waiting, more.inCalls - w.inCalls, more.others - w.others,
		more.system - w.system, more.faults - w.faults,
		more.delayed - w.delayed,
	}
}

// inThread reports whether a rank computes longer because another of its threads does: its first
// thread waits for most of the excess, and others run that much longer; or they do beyond what they
// would run if all threads had more work. With threads that wait by polling the two look alike.
func (w *whatElse) inThread(excess, inProportion float64) bool {
	idle, busy := w.blocked+w.waiting, max(w.others, w.waiting)
	return min(idle, busy) >= explains*excess || w.others-inProportion >= explains*excess
}

// wereDelayed reports whether waiting for a CPU is most of a rank's excess over the others, by the
// counters of the whole run.
func wereDelayed(e *evidence, w outliers.Worker, others []outliers.Worker) bool {
	own, known := waitedForCPU(e, w.Row)
	usual, excess, n := 0.0, accounts.Seconds(e.Each[e.MainOf[w.Row]].Compute), float64(max(1, len(others)))
	for _, o := range others {
		delayed, _ := waitedForCPU(e, o.Row)
		usual += delayed / n
		excess -= accounts.Seconds(e.Each[e.MainOf[o.Row]].Compute) / n
	}
	return known && excess > 0 && own-usual >= explains*excess
}

// losesMore reports whether the machines of all ranks of a set lose clearly more to the hypervisor
// than those of the others.
func losesMore(e *evidence, set, others []outliers.Worker) bool {
	return eachHas(set, others, longer, func(row int) float64 { return e.Machines[row].Lost() })
}

// isStolen reports whether steal is the reason why a set was blocked in its excess computation.
// blocked and stolen are in ns beyond the others; stolen is a part of blocked.
func isStolen(e *evidence, set, others []outliers.Worker, blocked, stolen float64) bool {
	return stolen > 0 && stolen >= explains*blocked && losesMore(e, set, others)
}

// waitedForCPU returns how long a rank was runnable, not waiting for other ranks, and without a
// CPU, in seconds, from the counters of the whole run. What was measured of calls, such as the
// start of MPI, does not count.
func waitedForCPU(e *evidence, row int) (seconds float64, known bool) {
	samples := e.Ranks[row].Context
	if e.Window != nil || len(samples) < 2 || samples[len(samples)-1].RunDelayNS <= 0 {
		return 0, false
	}
	delayed := accounts.Seconds(samples[len(samples)-1].RunDelayNS - samples[0].RunDelayNS)
	for _, r := range e.Ranks[row].Evidence {
		if r.After == (trace.CallSite{}) && r.RunDelayNS > 0 && r.Thread == e.Locations[e.MainOf[row]].Thread {
			delayed -= accounts.Seconds(r.RunDelayNS)
		}
	}
	return max(0, delayed-e.WaitingShare(row)*accounts.Seconds(e.Run())), true
}
