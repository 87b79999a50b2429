package outliers

import (
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/trace"
)

// FewRanks is the fraction of the ranks that are an exception at most. More are one only if they
// are all ranks of one pod or node.
const FewRanks = 0.25

// A Comparison compares the ranks of a run by their computation.
type Comparison struct {
	*accounts.Accounts
	roleKeys []string // by row; nil: not computed yet
}

// New returns a comparison of the ranks of a run.
func New(a *accounts.Accounts) *Comparison { return &Comparison{Accounts: a} }

// AreFew reports whether the ranks that stand out are few enough to be an exception.
func (a *Comparison) AreFew(s *Suspicion) bool {
	return len(s.Set) <= max(1, int(FewRanks*float64(len(a.Ranks)))) || a.ScopeOf(s.Set) != ""
}

// ScopeOf returns "node" or "pod" if a set is all ranks of one, otherwise "".
func (a *Comparison) ScopeOf(set []Worker) string {
	switch {
	case len(set) == 1:
		return ""
	case a.whole(set, accounts.NodeOf):
		return "node"
	case a.whole(set, func(r *trace.Rank) string { return r.Pod }):
		return "pod"
	}
	return ""
}

// Listed returns the ranks of workers as a list like "0-3,7".
func (a *Comparison) Listed(workers []Worker) string {
	list := make([]int, len(workers))
	for i, w := range workers {
		list[i] = a.Ranks[w.Row].Rank
	}
	slices.Sort(list)
	return trace.NewRankList(list).String()
}

// TallyOf returns the sums of an activity on a rank, nil if it does not execute it.
func (a *Comparison) TallyOf(w Worker, what accounts.Activity) *accounts.Tally {
	return a.Each[a.MainOf[w.Row]].Tallies[what]
}
