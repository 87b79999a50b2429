package criticalpath

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/analyses/waits"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// Wait states by where they were and by who waited for whom. Each location has tables of its own, small enough to be
// kept: kinds times call sites, kinds times partners.

type waitPlace struct {
	kind     waitstate.Kind
	function uint16
	site     uint32
}

type waitPartner struct {
	kind  waitstate.Kind
	cause int32 // location
}

type waitTally struct {
	count   int
	ns      int64
	longest int64 // ns, of one
}

func (t *waitTally) add(ns int64) {
	t.count++
	t.ns += ns
	t.longest = max(t.longest, ns)
}

type waitTables struct {
	places   map[waitPlace]*waitTally
	partners map[waitPartner]*waitTally
	// the latest ones: programs repeat themselves
	place       waitPlace
	partner     waitPartner
	atPlace     *waitTally
	withPartner *waitTally
}

func (t *waitTables) add(s *waitstate.State) {
	place := waitPlace{s.Kind, s.Call.Function, s.Call.Site}
	if t.atPlace == nil || t.place != place {
		if t.places == nil {
			t.places, t.partners = map[waitPlace]*waitTally{}, map[waitPartner]*waitTally{}
		}
		t.place, t.atPlace = place, tallyAt(t.places, place)
	}
	t.atPlace.add(s.Waited())
	partner := waitPartner{s.Kind, int32(s.Cause)}
	if t.withPartner == nil || t.partner != partner {
		t.partner, t.withPartner = partner, tallyAt(t.partners, partner)
	}
	t.withPartner.add(s.Waited())
}

func tallyAt[K comparable](m map[K]*waitTally, k K) *waitTally {
	if m[k] == nil {
		m[k] = new(waitTally)
	}
	return m[k]
}

// Names of the late senders that are listed apart, each a part of all late senders.
var wrongOrder = [...]string{"late sender, wrong order, same source", "late sender, wrong order, different sources"}

func (a *analysis) waitTimes() []waits.WaitTime {
	list := []waits.WaitTime{}
	for k, t := range a.forward.kinds {
		if t.count > 0 {
			list = append(list, waits.WaitTime{Kind: waitstate.Kind(k).String(), Count: t.count, Seconds: a.seconds(t.ns), UncertainSeconds: a.seconds(t.uncertain)})
		}
	}
	for i, w := range a.forward.wrongOrder {
		if w.Count > 0 {
			list = append(list, waits.WaitTime{Kind: wrongOrder[i], PartOf: waitstate.LateSender.String(), Count: w.Count, Seconds: a.seconds(w.NS)})
		}
	}
	slices.SortStableFunc(list, func(x, y waits.WaitTime) int { return -cmp.Compare(x.Seconds, y.Seconds) })
	return list
}

// waitBreakdown are the wait states by rank, call site and pair of ranks, costliest first.
func (a *analysis) waitBreakdown() waits.WaitBreakdown {
	ranks, sites, pairs := map[waits.RankWait]*waitTally{}, map[waits.SiteWait]*waitTally{}, map[waits.PairWait]*waitTally{}
	for i, l := range a.forward.locations {
		tables := &a.forward.tables[i]
		for p, t := range tables.places {
			kind := p.kind.String()
			merge(ranks, waits.RankWait{Rank: l.Rank, Kind: kind}, t)
			place := a.names.place(p.function, p.site)
			merge(sites, waits.SiteWait{Kind: kind, Function: place.Function, CallSite: place.CallSite}, t)
		}
		for p, t := range tables.partners {
			merge(pairs, waits.PairWait{Rank: l.Rank, Cause: a.forward.locations[p.cause].Rank, Kind: p.kind.String()}, t)
		}
	}
	var b waits.WaitBreakdown
	b.ByRank, b.RanksOmitted = costliestWaits(ranks, func(w waits.RankWait, t *waitTally) waits.RankWait {
		w.Count, w.Seconds = t.count, a.seconds(t.ns)
		return w
	})
	b.ByCallSite, b.CallSitesOmitted = costliestWaits(sites, func(w waits.SiteWait, t *waitTally) waits.SiteWait {
		w.Count, w.Seconds = t.count, a.seconds(t.ns)
		return w
	})
	b.ByPair, b.PairsOmitted = costliestWaits(pairs, func(w waits.PairWait, t *waitTally) waits.PairWait {
		w.Count, w.Seconds = t.count, a.seconds(t.ns)
		return w
	})
	return b
}

func merge[K comparable](m map[K]*waitTally, k K, t *waitTally) {
	sum := tallyAt(m, k)
	sum.count += t.count
	sum.ns += t.ns
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
