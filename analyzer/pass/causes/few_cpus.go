package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// fewCPUs is ranks that are ready to compute and wait for a CPU: all alike, or some.
type fewCPUs struct{}

// suggest assumes that every rank has a CPU whenever it computes. If the wait for a CPU is known
// for each computation, the gain comes from the replay; otherwise it is bounded by the total wait.
func (fewCPUs) suggest(e *evidence) []Hypothesis {
	h := Hypothesis{width: ofCPUs, Cause: ofAllRanks(e, verdict.CPUs, verdict.TooFew, accounts.Activity{})}
	h.What = "every rank had a CPU whenever it could go on"
	h.Assumes = "Computations take as long as they had a CPU, or were blocked; calls keep their own cost, waiting follows."
	delays := make([]outliers.Worker, 0, len(e.Ranks))
	var only map[int]bool // locations concerned; nil: all
	all, most := 0.0, int64(0)
	for row, i := range e.MainOf {
		if i < 0 {
			continue
		}
		delayed := delayedIn(e, row)
		all += accounts.Seconds(delayed)
		most = max(most, delayed)
		// relative to the mean computation, so that small delays do not count as differences
		// between ranks
		delays = append(delays, outliers.Worker{Row: row, Useful: accounts.Seconds(delayed + e.Each[i].Compute/int64(len(e.Ranks)))})
	}
	if e.HasEvidence() {
		if !e.isWorthIt(most) {
			return nil
		}
		if e.cpus.AreLimited() {
			h.Cause.Form = verdict.Limits
			h.What = "no CPU limit stopped a container"
		}
		if set, _ := e.Outliers(delays, outliers.Doubtful, longer); set != nil && (len(set) == 1 || e.ScopeOf(set) != "") && waitMore(e, set, outliers.Except(delays, set)) {
			h.Cause = e.causeOf(verdict.Excess, set, accounts.Activity{})
			h.Cause.Form = verdict.Preempted
			if stopped := throttledWaits(e, set, outliers.Except(delays, set)); stopped > 0 {
				h.Cause.Form, h.Cause.StoppedSeconds = verdict.Stopped, stopped
			}
			h.width, h.ofWaits = allRegions, true
			only = map[int]bool{}
			for _, w := range set {
				only[e.MainOf[w.Row]] = true
			}
			h.What = h.Cause.Who() + " had a CPU whenever it could go on"
		}
		if only == nil && all < muchDelayed*accounts.Seconds(e.Run())*float64(len(delays)) {
			return nil // only occasional bursts
		}
		h.change = without(e, only, nil, func(o *accounts.OffCPU) int64 { return o.Delayed })
		if only == nil {
			h.Assumes = "Computations and calls take as long as without their waits for a CPU; waiting for other ranks follows."
			h.change.keeps = func(function uint16, site uint32) float64 {
				if !e.isBetween(function, site) {
					return 1 // MPI starts and ends once, however long the run
				}
				return 1 - e.delayedPart(accounts.Activity{Function: function, Site: site})
			}
		}
		h.Cause.LostSeconds = all
		return []Hypothesis{h}
	}
	if e.cpus == nil || !e.cpus.AreFew() {
		return nil
	}
	// all of it may have been while MPI started and ended, which a longer run would hide
	h.estimated = int64(min(e.cpus.Lost(accounts.Seconds(e.Run())), accounts.Seconds(e.Run()))*1e9) - e.startAndEnd()
	if h.estimated <= 0 {
		return nil
	}
	h.Assumes = "An estimate: what a rank could have gone on with and waited for a CPU, on average."
	return []Hypothesis{h}
}

// waitMore reports whether each rank of a set waits for a CPU for a clearly larger part of its
// computation than the others do. A rank that computes longer than others where all of them lack
// CPUs waits longer, too, but not while the others have one.
func waitMore(e *evidence, set, others []outliers.Worker) bool {
	part := func(w outliers.Worker) float64 {
		delayed, wall := int64(0), int64(1)
		for _, o := range e.Each[e.MainOf[w.Row]].OffCPU {
			delayed, wall = delayed+o.Delayed, wall+o.Wall
		}
		return float64(delayed) / float64(wall)
	}
	least, usual := 1.0, 0.0
	for _, w := range set {
		least = min(least, part(w))
	}
	for _, w := range others {
		usual += part(w) / float64(len(others))
	}
	return least >= waitsMore*usual
}

// delayedIn returns how long a rank's computations waited for a CPU, in ns.
func delayedIn(e *evidence, row int) (ns int64) {
	for _, o := range e.Each[e.MainOf[row]].OffCPU {
		ns += o.Delayed
	}
	return ns
}
