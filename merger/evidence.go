package merger

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// The evidence of single ranks is for a person who looks for the worst: the largest instances, and
// what the threads of a process used. A finished trace has a few of these, however many ranks there
// are. Sums by location are kept.

const (
	// maxInstances is the number of instances of each kind in a finished trace.
	maxInstances = 8
	// leastThreadShare is the minimum CPU time of a thread, as a share of the run, for a row of its
	// own.
	leastThreadShare = 0.005
)

// instances are the instances that each process keeps, by number of the process.
type instances map[int32][]trace.EvidenceInstance

// largestInstances returns the longest instances of all ranks, and those with the longest time
// without a CPU.
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

// worthThreads returns the threads that call MPI and those with at least leastThreadShare.
func worthThreads(r *trace.Rank) []trace.ThreadUsage {
	least := int64(0)
	if n := len(r.Context); n > 0 {
		least = int64(leastThreadShare * float64(r.Context[n-1].MonotonicNS-r.Context[0].MonotonicNS))
	}
	var kept []trace.ThreadUsage
	for _, t := range r.Threads {
		if t.CallsMPI || t.CPUNS >= least {
			kept = append(kept, t)
		}
	}
	return kept
}
