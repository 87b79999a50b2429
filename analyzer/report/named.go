package report

import (
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// named returns the ranks that the verdict names, the most important first.
func named(r *Report) []int {
	var named []int
	v := r.Verdict()
	if v.Rank != nil {
		named = append(named, *v.Rank)
	}
	listed, err := trace.ParseRankList(v.Ranks)
	if err != nil {
		return named // a report of another version uses other words
	}
	for _, rank := range listed.Ranks() {
		if !slices.Contains(named[:min(1, len(named))], rank) {
			named = append(named, rank)
		}
	}
	return named
}
