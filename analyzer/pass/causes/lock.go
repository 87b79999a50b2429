package causes

import (
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Ranks that wait for each other outside MPI, as for a lock, are blocked one after the other: the
// first one does not wait, the next one waits until that has done its work, and so on. Who comes
// when changes from time to time, so that it looks like moving work.

// asForALock returns the hypothesis that nothing makes ranks wait for each other in the regions
// where their time moves, instead of h, which divides it equally each time.
func asForALock(e *evidence, h *Hypothesis, list []mover) *Hypothesis {
	c := &h.Cause
	if c.BlockedSeconds == 0 || slices.ContainsFunc(list, func(m mover) bool { return m.doubted || m.trend || !isQueue(e, &m) }) {
		return nil
	}
	lock := *h
	lock.Cause.Kind, lock.Cause.Form, lock.Cause.Spread = verdict.Serialization, verdict.Lock, nil
	free := make([]map[predict.Region]int64, len(e.Each)) // what an instance takes without waiting
	for _, m := range list {
		for _, w := range m.ranks {
			i := e.MainOf[w.Row]
			if free[i] == nil {
				free[i] = map[predict.Region]int64{}
			}
			for what := range m.regions {
				if t, o := e.Each[i].Tallies[what], e.Each[i].OffCPU[what]; t != nil && o != nil {
					free[i][regionOf(what)] = max(0, t.Ns-o.Blocked) / int64(t.Count)
				}
			}
		}
	}
	lock.change = change{takes: func(location int, r predict.Region, ns int64) int64 {
		if each, is := free[location][r]; is {
			return each
		}
		return ns
	}}
	lock.What = "no rank waited for another outside MPI " + verdict.Between(c.After, c.Before)
	lock.Assumes = "In these computations every rank spends its mean time without being blocked in the kernel; calls keep their own cost, waiting follows."
	return &lock
}

// isQueue reports whether ranks are blocked in a region as in a queue. Each one waits longer than
// the one before: if the longest wait is that of n − 1 others, all n wait half as long on average,
// not just one or a few of them. Nobody waits longer than the others compute there, nor for files.
func isQueue(e *evidence, m *mover) bool {
	computed, blocked, n := int64(0), int64(0), float64(len(m.ranks))
	for _, w := range m.ranks {
		account := &e.Each[e.MainOf[w.Row]]
		for what := range m.regions {
			if t := account.Tallies[what]; t != nil {
				computed += t.Ns
			}
			if o := account.OffCPU[what]; o != nil {
				if o.MovesData() {
					return false
				}
				computed, blocked = computed-o.Blocked, blocked+o.Blocked
			}
		}
	}
	if float64(blocked) > (n-1)/2*float64(computed) {
		return false
	}
	return m.inQueue >= likeQueue*n/2
}

// inQueue returns how long all ranks together take longer than the shortest one of an instance, as
// a multiple of what the longest one takes longer.
func inQueue(workers []outliers.Worker, tallies map[int]*accounts.Tally) float64 {
	longest, all := 0.0, 0.0
	for k := range instances(workers, tallies) {
		least, most, sum := tallies[workers[0].Row].First[k], tallies[workers[0].Row].First[k], 0.0
		for _, w := range workers {
			ns := tallies[w.Row].First[k]
			least, most, sum = min(least, ns), max(most, ns), sum+float64(ns)
		}
		longest, all = longest+float64(most-least), all+sum-float64(least)*float64(len(workers))
	}
	return all / max(longest, 1e-9)
}
