package observed

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// Which evidence of a rank the trace gets: rows that are a significant part of the run, and the
// largest of their instances.
const (
	minRowShare      = 0.005 // of the run's duration
	minInstanceShare = 0.001
	maxOfAKind       = trace.MaxInstances / 2
)

// ChooseEvidence adds the significant part of its evidence to a rank. taken is the total duration
// of the long instances of each row, measured or not, and run is the duration of the rank, both in
// ns. An instance's Row is an index into rows.
func ChooseEvidence(r *trace.Rank, rows []trace.EvidenceRow, taken []int64, instances []trace.EvidenceInstance, run int64) {
	r.Evidence, r.Outliers = nil, nil
	number := make([]int, len(rows)) // 1 + index in r.Evidence
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rows[a].EvidenceKey.Compare(rows[b].EvidenceKey) })
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

// LargestInstances returns the longest instances and those in which the thread was off CPU longest,
// ordered by BeginNS: at most MaxInstances.
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
