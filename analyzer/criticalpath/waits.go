package criticalpath

import (
	"cmp"
	"context"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/analyses/waits"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// waitsAnalysis sums up the wait states.
var waitsAnalysis = analysis.New("waits", analysis.About{Title: "wait states", Version: 1}, findWaits, matchingPass)

func findWaits(ctx context.Context, r *pass.Run) (waits.Findings, error) {
	f, err := matchingPass.Of(ctx, r)
	if f == nil || err != nil {
		return waits.Findings{}, err
	}
	return waits.Findings{WaitStates: waitTimes(f), Waits: new(waitBreakdown(f, newNames(r.Trace())))}, nil
}

// Names of the late senders that are listed apart, each a part of all late senders.
var wrongOrder = [...]string{"late sender, wrong order, same source", "late sender, wrong order, different sources"}

func waitTimes(f *forward) []waits.WaitTime {
	list := []waits.WaitTime{}
	for k, t := range f.kinds {
		if t.count > 0 {
			list = append(list, waits.WaitTime{Kind: waitstate.Kind(k).String(), Count: t.count, Seconds: inSeconds(t.ns), UncertainSeconds: inSeconds(t.uncertain)})
		}
	}
	for i, w := range f.wrongOrder {
		if w.Count > 0 {
			list = append(list, waits.WaitTime{Kind: wrongOrder[i], PartOf: waitstate.LateSender.String(), Count: w.Count, Seconds: inSeconds(w.NS)})
		}
	}
	slices.SortStableFunc(list, func(x, y waits.WaitTime) int { return -cmp.Compare(x.Seconds, y.Seconds) })
	return list
}

// waitBreakdown are the wait states by rank, call site and pair of ranks, costliest first.
func waitBreakdown(f *forward, n names) waits.WaitBreakdown {
	ranks, sites, pairs := map[waits.RankWait]*waitTally{}, map[waits.SiteWait]*waitTally{}, map[waits.PairWait]*waitTally{}
	for i, l := range f.locations {
		tables := &f.tables[i]
		for p, t := range tables.places {
			kind := p.kind.String()
			merge(ranks, waits.RankWait{Rank: l.Rank, Kind: kind}, t)
			place := n.place(p.function, p.site)
			merge(sites, waits.SiteWait{Kind: kind, Function: place.Function, CallSite: place.CallSite}, t)
		}
		for p, t := range tables.partners {
			merge(pairs, waits.PairWait{Rank: l.Rank, Cause: f.locations[p.cause].Rank, Kind: p.kind.String()}, t)
		}
	}
	var b waits.WaitBreakdown
	b.ByRank, b.RanksOmitted = costliestWaits(ranks, func(w waits.RankWait, t *waitTally) waits.RankWait {
		w.Count, w.Seconds = t.count, inSeconds(t.ns)
		return w
	})
	b.ByCallSite, b.CallSitesOmitted = costliestWaits(sites, func(w waits.SiteWait, t *waitTally) waits.SiteWait {
		w.Count, w.Seconds = t.count, inSeconds(t.ns)
		return w
	})
	b.ByPair, b.PairsOmitted = costliestWaits(pairs, func(w waits.PairWait, t *waitTally) waits.PairWait {
		w.Count, w.Seconds = t.count, inSeconds(t.ns)
		return w
	})
	return b
}

// A waitRow is one that can be put in order whatever happens to be equal.
type waitRow interface {
	comparable
	Order() (int, int, string)
}

func costliestWaits[K waitRow](m map[K]*waitTally, row func(K, *waitTally) K) (list []K, omitted int) {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(x, y K) int {
		xr, xc, xt := x.Order()
		yr, yc, yt := y.Order()
		return cmp.Or(-cmp.Compare(m[x].ns, m[y].ns), cmp.Compare(xr, yr), cmp.Compare(xc, yc), cmp.Compare(xt, yt))
	})
	omitted = max(0, len(keys)-maxRows)
	keys = keys[:len(keys)-omitted]
	for i, k := range keys {
		keys[i] = row(k, m[k])
	}
	return keys, omitted
}

func merge[K comparable](m map[K]*waitTally, k K, t *waitTally) {
	sum := tallyAt(m, k)
	sum.count += t.count
	sum.ns += t.ns
}
