package waits

import (
	"cmp"
	"context"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// Analysis sums wait states.
var Analysis = analysis.New("waits", analysis.About{Title: "wait states", Version: 1, Sections: Sections}, find, matching.Pass)

func find(_ context.Context, r *pass.Run) (Findings, error) {
	f := matching.Pass.Result(r)
	if f == nil {
		return Findings{}, nil
	}
	return Findings{WaitStates: waitTimes(f), Waits: new(waitBreakdown(f, accounts.NewNames(r.Trace())))}, nil
}

// wrongOrder are the names of the late senders that are also listed separately, as parts of all
// late senders.
var wrongOrder = [...]string{"late sender, wrong order, same source", "late sender, wrong order, different sources"}

func waitTimes(f *matching.Result) []WaitTime {
	list := []WaitTime{}
	for k, t := range f.Kinds {
		if t.Count > 0 {
			list = append(list, WaitTime{Kind: waitstate.Kind(k).String(), Count: t.Count, Seconds: accounts.Seconds(t.Ns), UncertainSeconds: accounts.Seconds(t.Uncertain)})
		}
	}
	for i, w := range f.WrongOrder {
		if w.Count > 0 {
			list = append(list, WaitTime{Kind: wrongOrder[i], PartOf: waitstate.LateSender.String(), Count: w.Count, Seconds: accounts.Seconds(w.NS)})
		}
	}
	slices.SortStableFunc(list, func(x, y WaitTime) int { return -cmp.Compare(x.Seconds, y.Seconds) })
	return list
}

// waitBreakdown sums wait states by rank, call site and pair of ranks, costliest first.
func waitBreakdown(f *matching.Result, n accounts.Names) WaitBreakdown {
	ranks, sites, pairs := map[RankWait]*matching.WaitTally{}, map[SiteWait]*matching.WaitTally{}, map[PairWait]*matching.WaitTally{}
	for i, l := range f.Locations {
		tables := &f.Tables[i]
		for p, t := range tables.Sites {
			kind := p.Kind.String()
			merge(ranks, RankWait{Rank: l.Rank, Kind: kind}, t)
			place := n.Call(p.Function, p.Site)
			merge(sites, SiteWait{Kind: kind, Function: place.Function, CallSite: place.CallSite}, t)
		}
		for p, t := range tables.Partners {
			merge(pairs, PairWait{Rank: l.Rank, Cause: f.Locations[p.Cause].Rank, Kind: p.Kind.String()}, t)
		}
	}
	var b WaitBreakdown
	b.ByRank, b.RanksOmitted = costliestWaits(ranks, func(w RankWait, t *matching.WaitTally) RankWait {
		w.Count, w.Seconds = t.Count, accounts.Seconds(t.Ns)
		return w
	})
	b.ByCallSite, b.CallSitesOmitted = costliestWaits(sites, func(w SiteWait, t *matching.WaitTally) SiteWait {
		w.Count, w.Seconds = t.Count, accounts.Seconds(t.Ns)
		return w
	})
	b.ByPair, b.PairsOmitted = costliestWaits(pairs, func(w PairWait, t *matching.WaitTally) PairWait {
		w.Count, w.Seconds = t.Count, accounts.Seconds(t.Ns)
		return w
	})
	return b
}

// A waitRow is a row with a total order, so that ties are sorted deterministically.
type waitRow interface {
	comparable
	key() (int, int, string)
}

func costliestWaits[K waitRow](m map[K]*matching.WaitTally, row func(K, *matching.WaitTally) K) (list []K, omitted int) {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(x, y K) int {
		xr, xc, xt := x.key()
		yr, yc, yt := y.key()
		return cmp.Or(-cmp.Compare(m[x].Ns, m[y].Ns), cmp.Compare(xr, yr), cmp.Compare(xc, yc), cmp.Compare(xt, yt))
	})
	omitted = max(0, len(keys)-accounts.MaxRows)
	keys = keys[:len(keys)-omitted]
	for i, k := range keys {
		keys[i] = row(k, m[k])
	}
	return keys, omitted
}

func merge[K comparable](m map[K]*matching.WaitTally, k K, t *matching.WaitTally) {
	sum := matching.TallyAt(m, k)
	sum.Count += t.Count
	sum.Ns += t.Ns
}
