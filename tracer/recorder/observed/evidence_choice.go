package observed

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// What of the evidence of a rank its trace gets: rows that take a part of the run worth telling, and of their instances the
// largest.
const (
	minRowShare      = 0.005 // of the run
	minInstanceShare = 0.001
	maxOfAKind       = trace.MaxInstances / 2
)

// ChooseEvidence gives a rank what matters of its evidence. taken is how long all long instances of each row were, measured or
// not, and run how long the rank ran, both in ns; an instance's Row is an index into rows.
func ChooseEvidence(r *trace.Rank, rows []trace.EvidenceRow, taken []int64, instances []trace.EvidenceInstance, run int64) {
	r.Evidence, r.Outliers = nil, nil
	number := make([]int, len(rows)) // 1 + index in r.Evidence
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rows[a].EvidencePlace.Compare(rows[b].EvidencePlace) })
	for _, i := range order {
		if taken[i] > 0 && float64(taken[i]) >= minRowShare*float64(run) {
			r.Evidence = append(r.Evidence, rows[i])
			number[i] = len(r.Evidence)
		}
	}
	worth := slices.DeleteFunc(slices.Clone(instances), func(e trace.EvidenceInstance) bool {
		least := minInstanceShare * float64(run)
		mean := float64(rows[e.Row].WallNS) / float64(rows[e.Row].Count)
		return number[e.Row] == 0 || float64(e.WallNS-e.CPUNS) < least && float64(e.WallNS)-mean < least
	})
	for _, e := range LargestInstances(worth) {
		e.Row = number[e.Row] - 1
		r.Outliers = append(r.Outliers, e)
	}
}

// LargestInstances are the longest of some instances, and those for the most time of which the thread had no CPU, in order of
// BeginNS: MaxInstances at most.
func LargestInstances(list []trace.EvidenceInstance) []trace.EvidenceInstance {
	list = slices.Clone(list)
	var kept []trace.EvidenceInstance
	for _, size := range []func(e *trace.EvidenceInstance) int64{
		func(e *trace.EvidenceInstance) int64 { return e.WallNS - e.CPUNS }, func(e *trace.EvidenceInstance) int64 { return e.WallNS },
	} {
		slices.SortStableFunc(list, func(a, b trace.EvidenceInstance) int { return cmp.Compare(size(&b), size(&a)) })
		for i := range list[:min(maxOfAKind, len(list))] {
			if size(&list[i]) > 0 {
				kept = append(kept, list[i])
			}
		}
	}
	slices.SortStableFunc(kept, func(a, b trace.EvidenceInstance) int {
		return cmp.Or(cmp.Compare(a.BeginNS, b.BeginNS), cmp.Compare(a.Row, b.Row))
	})
	return slices.Compact(kept)
}
