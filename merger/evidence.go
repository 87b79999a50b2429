package merger

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// What ranks have as evidence one by one is for a person who looks for the worst: the largest instances, and what the threads of
// a process used. Of these a finished trace has few, however many ranks there are; sums by place stay.

const (
	// maxInstances is how many instances of each kind a finished trace has.
	maxInstances = 8
	// leastThreadShare is the part of the run for which a thread has a CPU, from where on it is worth a row.
	leastThreadShare = 0.005
)

// instances says which of its instances each process keeps, by number of the process.
type instances map[int32][]trace.EvidenceInstance

// largestInstances are the longest of all ranks, and those for the most time of which the thread had no CPU.
func largestInstances(of *processes, order []int32) instances {
	type one struct {
		process int32
		number  int
		trace.EvidenceInstance
	}
	var all []one
	at := of.ranks.Lookup()
	for _, process := range order {
		for i, e := range at(int(process)).Outliers {
			all = append(all, one{process, i, e})
		}
	}
	keep := map[int32]map[int]bool{}
	for _, size := range []func(e *one) int64{
		func(e *one) int64 { return e.WallNS - e.CPUNS }, func(e *one) int64 { return e.WallNS },
	} {
		slices.SortStableFunc(all, func(a, b one) int { return cmp.Compare(size(&b), size(&a)) })
		for _, e := range all[:min(maxInstances, len(all))] {
			if keep[e.process] == nil {
				keep[e.process] = map[int]bool{}
			}
			keep[e.process][e.number] = true
		}
	}
	kept := instances{}
	for process, numbers := range keep {
		for i, e := range at(int(process)).Outliers {
			if numbers[i] {
				kept[process] = append(kept[process], e)
			}
		}
	}
	return kept
}

// worthThreads are the threads that call MPI, those that used a part of the run worth telling, and the tracer's together as one,
// which has the rank's PID.
func worthThreads(r *trace.Rank) []trace.ThreadUsage {
	least := int64(0)
	if n := len(r.Context); n > 0 {
		least = int64(leastThreadShare * float64(r.Context[n-1].MonotonicNS-r.Context[0].MonotonicNS))
	}
	var kept []trace.ThreadUsage
	tool := -1
	for _, t := range r.Threads {
		switch {
		case t.Tool && tool >= 0:
			sum := &kept[tool]
			sum.CPUNS += t.CPUNS
			if sum.RunDelayNS < 0 || t.RunDelayNS < 0 {
				sum.RunDelayNS = trace.Unknown
			} else {
				sum.RunDelayNS += t.RunDelayNS
			}
		case t.Tool:
			tool = len(kept)
			t.TID = r.PID
			kept = append(kept, t)
		case t.CallsMPI || t.CPUNS >= least:
			kept = append(kept, t)
		}
	}
	return kept
}
