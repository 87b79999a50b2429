package criticalpath

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/analyses/detail"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

// What is listed of single ranks at most.
const (
	maxRankActivities = 64 // ranks
	rankActivityRows  = 5  // of computations, and of calls
)

// rankActivities are those of at most 64 ranks: those that are named first, then the ones given, then who is longest on the
// path or computes longest.
func (a *closeUp) rankActivities(v verdict.Verdict, also []int, times []ranks.RankTime) ([]detail.RankActivities, error) {
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
	rows := make([]int, len(a.ranks))
	for row := range rows {
		rows[row] = row
	}
	slices.SortStableFunc(rows, func(x, y int) int {
		return cmp.Or(cmp.Compare(place(a.ranks[x].Rank), place(a.ranks[y].Rank)), cmp.Compare(*times[y].Path, *times[x].Path),
			cmp.Compare(times[y].Computation, times[x].Computation))
	})
	list := []detail.RankActivities{}
	for _, row := range rows {
		i := a.mainOf[row]
		if i < 0 || a.extents[i].empty {
			continue
		}
		list = append(list, detail.RankActivities{Rank: a.ranks[row].Rank, Activities: a.longest(i)})
		if len(list) == maxRankActivities {
			break
		}
	}
	return list, nil
}

// longest are the longest computations of a location, then its longest calls.
func (a *closeUp) longest(location int) []detail.RankActivity {
	account := &a.each[location]
	var computations, calls []activity
	for what := range account.tallies {
		if what.computes() {
			computations = append(computations, what)
		} else {
			calls = append(calls, what)
		}
	}
	var list []detail.RankActivity
	for _, all := range [][]activity{computations, calls} {
		slices.SortFunc(all, func(x, y activity) int {
			if order := cmp.Compare(account.tallies[y].ns, account.tallies[x].ns); order != 0 {
				return order
			}
			if x.less(y) {
				return -1
			}
			return 1
		})
		for _, what := range all[:min(len(all), rankActivityRows)] {
			t := account.tallies[what]
			function, site := a.names.labels("", what)
			list = append(list, detail.RankActivity{
				Function: function, CallSite: site, Count: t.count, Seconds: inSeconds(t.ns), Mean: inSeconds(a.total[what].ns) / float64(len(a.ranks)),
				Waiting: inSeconds(t.waited), Path: inSeconds(t.path),
			})
		}
	}
	return list
}
