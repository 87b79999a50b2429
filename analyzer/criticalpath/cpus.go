package criticalpath

import (
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

// A rank that shares its CPU with others waits for its turn in the middle of whatever it does, and who is to hear from it
// waits along; one that its CPU limit stops does, too. If that happens to all ranks alike nobody stands out, and on a time
// line it looks like a slow network. What the operating system counted for them (trace.ContextSample) tells it apart.

const (
	fewCPUs     = 0.8  // of its time that a rank has a CPU: with less, CPUs are to blame for what communication loses
	oftenAside  = 50   // preemptions in a second without a CPU, where the kernel does not count the wait for a CPU
	muchStarved = 0.1  // of its time that a rank lacked a CPU to go on: one that sleeps or waits for a disk needs none
	shared      = 0.1  // of its time that a rank was ready to run and waited for a CPU, or not: it may have polled
	muchDelayed = 0.05 // of its time that a rank computed without a CPU, on average
	muchStopped = 0.1  // of its time that a container was stopped by its CPU limit
)

// CPUs is what ranks had of the CPUs: means over the ranks that were sampled twice and more, between their first sample
// and their last one.
type CPUs struct {
	// Share is the part of its time for which a rank had a CPU, at most 1 (a rank of several threads may have more).
	Share float64 `json:"share"`
	// RunDelay is the part of its time for which the first thread of a rank was ready to run and waited for a CPU; null where
	// the kernel does not count it.
	RunDelay *float64 `json:"run_delay"`
	// Starved is what of that is beyond the time that the rank waited for other ranks: meanwhile it polls, at most, and has
	// nothing to go on with. Null likewise.
	Starved *float64 `json:"starved"`
	// PutAside is how often a rank was put aside for another process or thread (involuntary context switches), in each
	// second that it had no CPU; 0 if it always had one.
	PutAside float64 `json:"put_aside_per_second"`
	// Stopped is the part of its time for which the CPU limit of a rank's container stopped it, at most 1; 0 where that
	// is not known.
	Stopped float64 `json:"stopped"`
	// Machines are those that lost CPUs to others of the same hypervisor; StolenEverywhere is set if all did, each for 5 % of the
	// time for which its ranks wanted a CPU.
	Machines         []Machine `json:"machines"`
	StolenEverywhere bool      `json:"stolen_everywhere"`
}

// cpusOf is nil where no rank was sampled twice. waiting is the part of its time for which a rank, by row, waited for others.
func cpusOf(ranks []trace.Rank, waiting func(row int) float64) *CPUs {
	var c CPUs
	n, without, aside, delay, starved, counted := 0.0, 0.0, 0.0, 0.0, 0.0, true
	for i := range ranks {
		samples := ranks[i].Context
		if len(samples) < 2 {
			continue
		}
		first, last := samples[0], samples[len(samples)-1]
		wall := float64(last.MonotonicNS - first.MonotonicNS)
		if wall <= 0 {
			continue
		}
		n++
		share := min(1, float64(last.CPUNS-first.CPUNS)/wall)
		c.Share += share
		without += (1 - share) * wall / 1e9
		delayed := min(1, float64(last.RunDelayNS-first.RunDelayNS)/wall)
		delay += delayed
		starved += max(0, delayed-waiting(i))
		counted = counted && last.RunDelayNS > 0
		aside += float64(last.InvoluntarySwitches - first.InvoluntarySwitches)
		if stopped, known := throttling(&ranks[i]); known {
			c.Stopped += min(1, stopped*1e9/wall)
		}
	}
	if n == 0 {
		return nil
	}
	c.Share, c.Stopped = c.Share/n, c.Stopped/n
	c.Machines, c.StolenEverywhere = stealOf(ranks)
	if counted {
		c.RunDelay, c.Starved = new(delay/n), new(starved/n)
	}
	if without > 0 {
		c.PutAside = aside / without
	}
	return &c
}

// areFew reports whether the ranks had to share CPUs so much that it shows. How often they were preempted tells that only
// where it is not known for how long they waited then: ranks that poll are preempted whenever one that slept goes on.
func (c *CPUs) areFew() bool {
	switch {
	case c == nil || c.Share >= fewCPUs:
		return false
	case c.Starved != nil:
		return *c.Starved >= muchStarved
	}
	return c.PutAside >= oftenAside
}

// areLimited reports whether CPU limits stopped the ranks, all alike.
func (c *CPUs) areLimited() bool { return c != nil && c.Stopped >= muchStopped }

// areShared reports whether ranks had to wait for their turn so often that how long a computation took says little of it.
func (c *CPUs) areShared() bool { return c != nil && c.RunDelay != nil && *c.RunDelay >= shared }

// fewCPUs: every rank has a CPU whenever it computes. Where it is known for how long each computation waited for one, the
// replay tells what that saves; else it is at most what ranks lacked altogether.
func (a *analysis) fewCPUs() *hypothesis {
	h := hypothesis{width: ofCPUs, cause: verdict.Cause{Kind: verdict.CPUs, Form: verdict.TooFew}}
	h.what = "every rank had a CPU whenever it could go on"
	h.assumes = "Computations take as long as they had a CPU, or were blocked; calls keep their own cost, waiting follows."
	delays := make([]worker, 0, len(a.ranks))
	var only map[int]bool // locations that the hypothesis is about; nil: all
	all, most := 0.0, int64(0)
	for row, i := range a.mainOf {
		if i < 0 {
			continue
		}
		delayed := int64(0)
		for _, o := range a.accounts[i].offCPU {
			delayed += o.delayed
		}
		all += a.seconds(delayed)
		most = max(most, delayed)
		// beside what all compute, a delay here and there is no difference between ranks
		delays = append(delays, worker{row: row, useful: a.seconds(delayed + a.accounts[i].compute/int64(len(a.ranks)))})
	}
	if a.hasEvidence() {
		if !a.isWorthIt(most) {
			return nil
		}
		if a.cpus.areLimited() {
			h.cause.Form = verdict.Limits
			h.what = "no CPU limit stopped a container"
		}
		if set, _ := a.standing(delays, doubtful, longer); set != nil && (len(set) == 1 || a.scopeOf(set) != "") {
			h.cause = a.causeOf(verdict.Excess, set, activity{})
			h.cause.Form = verdict.Preempted
			if stopped := a.throttled(set, except(delays, set)); stopped > 0 {
				h.cause.Form, h.cause.StoppedSeconds = verdict.Stopped, stopped
			}
			h.width = allRegions
			only = map[int]bool{}
			for _, w := range set {
				only[a.mainOf[w.row]] = true
			}
			h.what = h.cause.Who() + " had a CPU whenever it could go on"
		}
		if only == nil && all < muchDelayed*a.seconds(a.run())*float64(len(delays)) {
			return nil // a burst here and there
		}
		h.change = a.undelayedAll(only)
		h.cause.LostSeconds = all
		return &h
	}
	if a.cpus == nil || !a.cpus.areFew() {
		return nil
	}
	h.estimated = int64(min(a.cpus.lost(a.seconds(a.run())), a.seconds(a.run())) * 1e9)
	h.assumes = "An estimate: what a rank could have gone on with and waited for a CPU, on average."
	return &h
}

// waitedForCPU is for how long a rank was ready to run, had something to go on with, and waited for a CPU, in seconds, by what
// was counted over the run as a whole.
func (a *analysis) waitedForCPU(row int) (seconds float64, known bool) {
	samples := a.ranks[row].Context
	if a.window != nil || len(samples) < 2 || samples[len(samples)-1].RunDelayNS <= 0 {
		return 0, false
	}
	delayed := a.seconds(samples[len(samples)-1].RunDelayNS - samples[0].RunDelayNS)
	return max(0, delayed-a.waitingShare(row)*a.seconds(a.run())), true
}

// undelayedAll: computations of some locations (nil: all) take as long as without waiting for a CPU. Where the wait came in few
// long pauses these go, else each loses its part.
func (a *analysis) undelayedAll(only map[int]bool) change {
	type cut struct{ factor, limit, usual float64 }
	cuts := make([]map[predict.Region]cut, len(a.accounts))
	for i := range a.accounts {
		if only != nil && !only[i] {
			continue
		}
		cuts[i] = map[predict.Region]cut{}
		for what, o := range a.accounts[i].offCPU {
			t := a.accounts[i].tallies[what]
			if t == nil || o.wall <= 0 {
				continue
			}
			c := cut{factor: 1 - min(1, float64(o.delayed)/float64(o.wall))}
			if usual := a.usual(what); usual > 0 {
				n, ns := t.spread.above(longer * usual)
				if pauses := ns - float64(n)*usual; pauses >= explains*float64(o.delayed) && explains*pauses <= float64(o.delayed) {
					c = cut{1, longer * usual, usual}
				}
			}
			cuts[i][regionOf(what)] = c
		}
	}
	return change{takes: func(location int, r predict.Region, ns int64) int64 {
		c, known := cuts[location][r]
		switch {
		case !known:
			return ns
		case c.usual > 0 && float64(ns) > c.limit:
			return int64(c.usual)
		}
		return int64(float64(ns) * c.factor)
	}}
}

// limits: no container is stopped by its CPU limit, where all are alike. When they were stopped is not known: computations
// that take longer than usual there take as long as usual.
func (a *analysis) limits() *hypothesis {
	if !a.cpus.areLimited() || a.hasEvidence() || a.throttledRanks() != nil {
		return nil
	}
	usual := map[predict.Region]float64{}
	for what := range a.total {
		if what.computes() {
			usual[regionOf(what)] = a.usual(what)
		}
	}
	h := hypothesis{width: ofCPUs, cause: verdict.Cause{Kind: verdict.CPUs, Form: verdict.Limits}, estimated: int64(a.cpus.Stopped * float64(a.run()))}
	h.change = change{takes: func(_ int, r predict.Region, ns int64) int64 {
		if u := usual[r]; u > 0 && float64(ns) > longer*u {
			return int64(u)
		}
		return ns
	}}
	h.what, h.assumes = "no CPU limit stopped a container", "Computations that take longer than usual take as long as they usually do; calls keep their own cost, waiting follows."
	return &h
}

// usual is how long a computation takes on most ranks most of the time, in ns; 0 where it does not repeat.
func (a *analysis) usual(what activity) float64 {
	var medians []float64
	for _, i := range a.mainOf {
		if i >= 0 {
			if t := a.accounts[i].tallies[what]; t != nil && t.count >= repeated {
				medians = append(medians, t.spread.quantile(0.5))
			}
		}
	}
	if len(medians) == 0 {
		return 0
	}
	slices.Sort(medians)
	return medians[(len(medians)-1)/2]
}

// lost is for how many seconds of the run a rank lacked a CPU to go on; what it had none for where that is not known.
func (c *CPUs) lost(run float64) float64 {
	if c.Starved == nil {
		return (1 - c.Share) * run
	}
	return *c.Starved * run
}
