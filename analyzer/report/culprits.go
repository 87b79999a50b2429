package report

import (
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// culprits are the ranks that the verdict names, the first to look at first: they come first wherever ranks are listed.
func culprits(r *Report) []int {
	var named []int
	if r.Verdict.Rank != nil {
		named = append(named, *r.Verdict.Rank)
	}
	listed, err := trace.ParseRankList(r.Verdict.Ranks)
	if err != nil {
		return named // a report of another version words them otherwise
	}
	for _, rank := range listed.Ranks() {
		if !slices.Contains(named[:min(1, len(named))], rank) {
			named = append(named, rank)
		}
	}
	return named
}

// culpritsFirst puts a list in the order of culprits, then as it was.
func culpritsFirst[T any](r *Report, list []T, rank func(T) int) []T {
	place := map[int]int{}
	for i, c := range culprits(r) {
		place[c] = i - len(r.Ranks) - 1 // before all that are none, which have 0
	}
	ordered := slices.Clone(list)
	slices.SortStableFunc(ordered, func(a, b T) int { return place[rank(a)] - place[rank(b)] })
	return ordered
}
