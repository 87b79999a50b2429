package causes

import (
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// muchDelayed is the average fraction of their computation that ranks must have waited for a CPU
// for CPUs to be a cause.
const muchDelayed = 0.05

// fewCPUs assumes that every rank has a CPU whenever it computes. If the wait for a CPU is known
// for each computation, the gain comes from the replay; otherwise it is bounded by the total wait.
func (a *search) fewCPUs() *Hypothesis {
	h := Hypothesis{width: ofCPUs, Cause: verdict.Cause{Kind: verdict.CPUs, Form: verdict.TooFew}}
	h.What = "every rank had a CPU whenever it could go on"
	h.Assumes = "Computations take as long as they had a CPU, or were blocked; calls keep their own cost, waiting follows."
	delays := make([]worker, 0, len(a.Ranks))
	var only map[int]bool // locations concerned; nil: all
	all, most := 0.0, int64(0)
	for row, i := range a.MainOf {
		if i < 0 {
			continue
		}
		delayed := int64(0)
		for _, o := range a.Each[i].OffCPU {
			delayed += o.Delayed
		}
		all += accounts.Seconds(delayed)
		most = max(most, delayed)
		// relative to the mean computation, so that small delays do not count as differences
		// between ranks
		delays = append(delays, worker{row: row, useful: accounts.Seconds(delayed + a.Each[i].Compute/int64(len(a.Ranks)))})
	}
	if a.HasEvidence() {
		if !a.isWorthIt(most) {
			return nil
		}
		if a.cpus.AreLimited() {
			h.Cause.Form = verdict.Limits
			h.What = "no CPU limit stopped a container"
		}
		if set, _ := a.outliers(delays, doubtful, longer); set != nil && (len(set) == 1 || a.scopeOf(set) != "") {
			h.Cause = a.causeOf(verdict.Excess, set, accounts.Activity{})
			h.Cause.Form = verdict.Preempted
			if stopped := a.throttled(set, except(delays, set)); stopped > 0 {
				h.Cause.Form, h.Cause.StoppedSeconds = verdict.Stopped, stopped
			}
			h.width = allRegions
			only = map[int]bool{}
			for _, w := range set {
				only[a.MainOf[w.row]] = true
			}
			h.What = h.Cause.Who() + " had a CPU whenever it could go on"
		}
		if only == nil && all < muchDelayed*accounts.Seconds(a.Run())*float64(len(delays)) {
			return nil // only occasional bursts
		}
		h.change = a.undelayedAll(only)
		h.Cause.LostSeconds = all
		return &h
	}
	if a.cpus == nil || !a.cpus.AreFew() {
		return nil
	}
	h.estimated = int64(min(a.cpus.Lost(accounts.Seconds(a.Run())), accounts.Seconds(a.Run())) * 1e9)
	h.Assumes = "An estimate: what a rank could have gone on with and waited for a CPU, on average."
	return &h
}

// waitedForCPU returns how long a rank was runnable, not waiting for other ranks, and without a
// CPU, in seconds, from the counters of the whole run.
func (a *search) waitedForCPU(row int) (seconds float64, known bool) {
	samples := a.Ranks[row].Context
	if a.Window != nil || len(samples) < 2 || samples[len(samples)-1].RunDelayNS <= 0 {
		return 0, false
	}
	delayed := accounts.Seconds(samples[len(samples)-1].RunDelayNS - samples[0].RunDelayNS)
	return max(0, delayed-a.WaitingShare(row)*accounts.Seconds(a.Run())), true
}

// undelayedAll removes the wait for a CPU from the computations of some locations (nil: all). If it
// consisted of few long pauses, these are removed; otherwise each instance is shortened by the same
// factor.
func (a *search) undelayedAll(only map[int]bool) change {
	type cut struct{ factor, limit, usual float64 }
	cuts := make([]map[predict.Region]cut, len(a.Each))
	for i := range a.Each {
		if only != nil && !only[i] {
			continue
		}
		cuts[i] = map[predict.Region]cut{}
		for what, o := range a.Each[i].OffCPU {
			t := a.Each[i].Tallies[what]
			if t == nil || o.Wall <= 0 {
				continue
			}
			c := cut{factor: 1 - min(1, float64(o.Delayed)/float64(o.Wall))}
			if usual := a.usual(what); usual > 0 {
				n, ns := t.Spread.Above(longer * usual)
				if pauses := ns - float64(n)*usual; pauses >= explains*float64(o.Delayed) && explains*pauses <= float64(o.Delayed) {
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

// limits assumes that no container is throttled by its CPU limit, when all containers are alike. It
// is not known when they were throttled, so computations that take longer than usual get their
// usual duration.
func (a *search) limits() *Hypothesis {
	if !a.cpus.AreLimited() || a.HasEvidence() || a.throttledRanks() != nil {
		return nil
	}
	usual := map[predict.Region]float64{}
	for what := range a.Total {
		if what.Computes() {
			usual[regionOf(what)] = a.usual(what)
		}
	}
	h := Hypothesis{width: ofCPUs, Cause: verdict.Cause{Kind: verdict.CPUs, Form: verdict.Limits}, estimated: int64(a.cpus.Stopped * float64(a.Run()))}
	h.change = change{takes: func(_ int, r predict.Region, ns int64) int64 {
		if u := usual[r]; u > 0 && float64(ns) > longer*u {
			return int64(u)
		}
		return ns
	}}
	h.What, h.Assumes = "no CPU limit stopped a container", "Computations that take longer than usual take as long as they usually do; calls keep their own cost, waiting follows."
	return &h
}

// usual returns the median over the ranks of a computation's median duration, in ns; 0 if it does
// not repeat.
func (a *search) usual(what accounts.Activity) float64 {
	var medians []float64
	for _, i := range a.MainOf {
		if i >= 0 {
			if t := a.Each[i].Tallies[what]; t != nil && t.Count >= accounts.Repeated {
				medians = append(medians, t.Spread.Quantile(0.5))
			}
		}
	}
	if len(medians) == 0 {
		return 0
	}
	slices.Sort(medians)
	return medians[(len(medians)-1)/2]
}
