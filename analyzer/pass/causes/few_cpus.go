package causes

import (
	"math"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/pass/owntime"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// fewCPUs is ranks that could go on and wait for a CPU: all alike, or some.
type fewCPUs struct{}

// suggest assumes that every rank has a CPU whenever it could go on. If it is known how long each
// rank waits for one, the gain comes from the replay; otherwise it is bounded by the total wait.
func (fewCPUs) suggest(e *evidence) []Hypothesis {
	h := Hypothesis{width: ofCPUs, Cause: ofAllRanks(e, verdict.CPUs, verdict.TooFew, accounts.Activity{})}
	h.What = "every rank had a CPU whenever it could go on"
	if !e.HasEvidence() && !e.lacks.AreCounted() {
		return estimateOf(e, h)
	}
	all, most := 0.0, int64(0)
	delays := lossesOf(e, func(row int) (delayed, active int64) {
		delayed, active = delayedIn(e, row)
		all, most = all+accounts.Seconds(delayed), max(most, delayed)
		return delayed, active
	})
	if !e.isWorthIt(most) {
		return nil
	}
	var rows map[int]bool // concerned; nil: all
	if e.cpus.AreLimited() {
		limited := throttledMost(e)
		if h.Cause = limitsOf(e, limited); limited != nil {
			rows = outliers.RowsOf(limited)
		}
		h.What = "no CPU limit stopped a container"
	}
	set, _ := e.Outliers(delays, outliers.Doubtful, longer)
	if set != nil && (len(set) == 1 || e.ScopeOf(set) != "") && waitMore(e, set, outliers.Except(delays, set)) && !takeTurnsWithOthers(e, set, outliers.Except(delays, set)) {
		h.Cause = e.causeOf(verdict.Excess, set, accounts.Activity{})
		h.Cause.Form = verdict.Preempted
		if useItsCPU(e, set, outliers.Except(delays, set)) {
			h.Cause.Form = verdict.ByThreads
		}
		if stopped := throttledLonger(e, set, outliers.Except(delays, set), waiting); stopped > 0 {
			h.Cause.Form, h.Cause.StoppedSeconds = verdict.Stopped, stopped
		}
		h.width, h.ofWaits = allRegions, true
		rows = outliers.RowsOf(set)
		h.What = h.Cause.Who() + " had a CPU whenever it could go on"
	} else if all < muchDelayed*accounts.Seconds(e.Run())*float64(len(delays)) {
		return nil // only occasional bursts
	}
	h.Assumes = "Computations and calls take as long as without these waits for a CPU; waiting for other ranks follows."
	h.Cause.LostSeconds = all
	if h.Cause.Form == verdict.TooFew || h.Cause.Form == verdict.Preempted {
		return divideWaits(e, h, rows)
	}
	h.change = undelayed(e, rows, 1)
	return []Hypothesis{h}
}

// takeTurnsWithOthers reports whether a rank of a set was last seen on the CPU of one of the
// others, which waits at least half as long: then they run in turn, and nothing else runs there.
func takeTurnsWithOthers(e *evidence, set, others []outliers.Worker) bool {
	for _, w := range set {
		for _, o := range others {
			if o.Useful >= explains*w.Useful && e.lacks.AreOnOneCPU(w.Row, o.Row) {
				return true
			}
		}
	}
	return false
}

// estimateOf bounds what ranks lose by the total wait for a CPU. All of it may have been while MPI
// started and ended, which a longer run would hide.
func estimateOf(e *evidence, h Hypothesis) []Hypothesis {
	if e.cpus == nil || !e.cpus.AreFew() {
		return nil
	}
	h.estimated = int64(min(e.cpus.Lost(accounts.Seconds(e.Run())), accounts.Seconds(e.Run()))*1e9) - e.startAndEnd()
	if h.estimated <= 0 {
		return nil
	}
	h.Assumes = "An estimate: what a rank could have gone on with and waited for a CPU, on average."
	return []Hypothesis{h}
}

// lossesOf returns what each rank loses beside what it does. That is a part of the mean activity,
// so that small losses do not count as differences between ranks, and neither does more work.
func lossesOf(e *evidence, of func(row int) (lost, active int64)) []outliers.Worker {
	list, all := make([]outliers.Worker, 0, len(e.Ranks)), 0.0
	for row, i := range e.MainOf {
		if i >= 0 {
			lost, active := of(row)
			all += accounts.Seconds(active)
			list = append(list, outliers.Worker{Row: row, Useful: accounts.Seconds(lost)})
		}
	}
	n := float64(max(1, len(list)))
	for i := range list {
		list[i].Useful += all / n / n
	}
	return list
}

// undelayed removes a part of the waits of the ranks in some rows (nil: all) for a CPU: from
// computations as measured, or as their counters say of what was not measured, and from their calls
// and those of their partners.
func undelayed(e *evidence, rows map[int]bool, part float64) change {
	c := without(e, locationsOf(e, rows), nil, func(o *accounts.OffCPU) int64 { return int64(part * float64(o.Delayed)) })
	measured := c.takes
	c.takes = func(location int, r predict.Region, ns int64) int64 {
		l := &e.Locations[location]
		if l.Main != location || rows != nil && !rows[l.Row] {
			return measured(location, r, ns)
		}
		account, what := &e.Each[location], activityOf(r)
		if _, known := account.Undelayed(what); known && account.OffCPU[what] != nil {
			return measured(location, r, ns)
		}
		delayed := e.lacks.Average(l.Row).Delayed
		if o := account.OffCPU[what]; o != nil { // a few instances, which stand for themselves
			all := float64(max(1, account.Tallies[what].Ns))
			delayed = (float64(o.Delayed) + delayed*(all-float64(o.Wall))) / all
		}
		return ns - int64(part*delayed*float64(ns))
	}
	c.keeps = keepsWithout(e, rows, func(l owntime.Lack) float64 { return part * l.Delayed })
	return c
}

// keepsWithout removes from calls what the ranks in some rows (nil: all) lack, in their own calls
// and in those of their partners.
func keepsWithout(e *evidence, rows map[int]bool, what func(owntime.Lack) float64) func(function uint16, site uint32) float64 {
	return func(function uint16, site uint32) float64 {
		if !e.isBetween(function, site) {
			return 1 // MPI starts and ends once, however long the run
		}
		return 1 - e.lacks.OfAll(accounts.Activity{Function: function, Site: site}, func(row int, p *owntime.Part) (part float64) {
			if rows == nil || rows[row] {
				part += what(p.Own)
			}
			if rows == nil || rows[p.By] {
				part += what(p.Partner)
			}
			return part
		})
	}
}

// locationsOf returns the main locations of rows; nil: all.
func locationsOf(e *evidence, rows map[int]bool) map[int]bool {
	if rows == nil {
		return nil
	}
	locations := map[int]bool{}
	for row := range rows {
		locations[e.MainOf[row]] = true
	}
	return locations
}

// waitMore reports whether each rank of a set waits for a CPU for a clearly larger part of its
// activity than the others do. A rank that computes longer than others where all of them lack CPUs
// waits longer, too, but not while the others have one.
func waitMore(e *evidence, set, others []outliers.Worker) bool {
	return eachHas(set, others, waitsMore, func(row int) float64 {
		delayed, active := delayedIn(e, row)
		return float64(delayed) / float64(max(1, active))
	})
}

// eachHas reports whether each rank of a set has so many times of something as the mean of the
// others.
func eachHas(set, others []outliers.Worker, times float64, of func(row int) float64) bool {
	least, usual := math.Inf(1), 0.0
	for _, w := range set {
		least = min(least, of(w.Row))
	}
	for _, w := range others {
		usual += of(w.Row) / float64(len(others))
	}
	return least > 0 && least >= times*usual
}

// delayedIn returns how long a rank waited for a CPU while it could go on, in ns, and for how long
// it could: it computed, or was in calls without waiting for other ranks.
func delayedIn(e *evidence, row int) (delayed, active int64) {
	own, total := e.lacks.Delayed(row)
	return e.lacks.DelayedComputing(row) + own, e.Each[e.MainOf[row]].Compute + total
}

// waiting returns how long a rank waited for a CPU while it could go on, in ns.
func waiting(e *evidence, row int) int64 {
	delayed, _ := delayedIn(e, row)
	return delayed
}
