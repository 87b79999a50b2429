package detail

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

// Limits of RankActivities.
const (
	maxRankActivities = 64 // ranks
	rankActivityRows  = 5  // of computations, and of calls
)

// rankActivities returns the activities of at most maxRankActivities ranks: those that the verdict
// names, those in also, then the ranks with the longest time on the path or in computation.
func (a *closeUp) rankActivities(v verdict.Verdict, also []int, times []ranks.RankTime) ([]RankActivities, error) {
	named, err := trace.ParseRankList(v.Ranks)
	if err != nil {
		return nil, err
	}
	first := map[int]int{}
	for _, rank := range append(named.Ranks(), also...) {
		if _, there := first[rank]; !there {
			first[rank] = len(first)
		}
	}
	place := func(rank int) int {
		if i, there := first[rank]; there {
			return i
		}
		return len(first)
	}
	rows := make([]int, len(a.Ranks))
	for row := range rows {
		rows[row] = row
	}
	slices.SortStableFunc(rows, func(x, y int) int {
		return cmp.Or(cmp.Compare(place(a.Ranks[x].Rank), place(a.Ranks[y].Rank)), cmp.Compare(*times[y].Path, *times[x].Path),
			cmp.Compare(times[y].Computation, times[x].Computation))
	})
	list := []RankActivities{}
	for _, row := range rows {
		i := a.MainOf[row]
		if i < 0 || a.Extents[i].Empty {
			continue
		}
		list = append(list, RankActivities{Rank: a.Ranks[row].Rank, Activities: a.longest(i)})
		if len(list) == maxRankActivities {
			break
		}
	}
	return list, nil
}

// longest returns the longest computations of a location, then its longest calls.
func (a *closeUp) longest(location int) []RankActivity {
	account := &a.Each[location]
	var computations, calls []accounts.Activity
	for what := range account.Tallies {
		if what.Computes() {
			computations = append(computations, what)
		} else {
			calls = append(calls, what)
		}
	}
	var list []RankActivity
	for _, all := range [][]accounts.Activity{computations, calls} {
		slices.SortFunc(all, func(x, y accounts.Activity) int {
			if order := cmp.Compare(account.Tallies[y].Ns, account.Tallies[x].Ns); order != 0 {
				return order
			}
			if x.Less(y) {
				return -1
			}
			return 1
		})
		for _, what := range all[:min(len(all), rankActivityRows)] {
			t := account.Tallies[what]
			function, site := a.Names.Labels("", what)
			list = append(list, RankActivity{
				Function: function, CallSite: site, Count: t.Count, Seconds: accounts.Seconds(t.Ns), Mean: accounts.Seconds(a.Total[what].Ns) / float64(len(a.Ranks)),
				Waiting: accounts.Seconds(t.Waited), Path: accounts.Seconds(t.Path),
			})
		}
	}
	return list
}
