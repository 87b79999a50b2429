package criticalpath

import (
	"context"
	"sort"

	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
)

// ranksAnalysis says how ranks spent their time.
var ranksAnalysis = analysis.New("ranks", analysis.About{Title: "times of ranks, functions, call sites and computations", Version: 1}, findRanks,
	accountsPass, matchingPass, routePass, delaysPass)

func findRanks(ctx context.Context, r *pass.Run) (ranks.Findings, error) {
	a, err := accountsPass.Of(ctx, r)
	if err != nil {
		return ranks.Findings{}, err
	}
	f := ranks.Findings{Functions: functionTimes(a), CallSites: siteTimes(a), Computation: regionTimes(a)}
	matched, err := matchingPass.Of(ctx, r)
	if err != nil {
		return f, err
	}
	p, err := routePass.Of(ctx, r)
	if err != nil {
		return f, err
	}
	d, err := delaysPass.Of(ctx, r)
	if err != nil {
		return f, err
	}
	f.Ranks = rankTimes(a, matched, p, d.byRow(len(a.ranks)))
	return f, nil
}

// rankTimes are those of ranks; of sums there is no matching and no route.
func rankTimes(a *allAccounts, f *forward, p *route, byRank []float64) []ranks.RankTime {
	times := make([]ranks.RankTime, len(a.ranks))
	for row, r := range a.ranks {
		times[row] = ranks.RankTime{Rank: r.Rank, Pod: r.Pod, Node: r.Node, Host: r.Host, EndedEarly: r.EndedEarly}
		if !a.sums {
			path := p.onPath[row]
			times[row].Path, times[row].PathShare = new(inSeconds(path)), new(a.share(path))
			times[row].Slack = new(inSeconds(max(0, p.slack[row])))
			times[row].Waiting, times[row].CausedWaiting = new(0.0), new(0.0)
			times[row].DelayCost = &byRank[row]
		}
		if i := a.mainOf[row]; i >= 0 {
			times[row].Initialization, times[row].Finalization = inSeconds(a.each[i].initialize), inSeconds(a.each[i].finalize)
		}
	}
	for i, l := range a.locations {
		t, account := &times[l.Row], &a.each[i]
		t.Calls += account.calls
		if !a.sums {
			*t.CausedWaiting += inSeconds(f.caused[i])
		}
		if i == l.Main {
			t.Computation, t.MPI, t.Waiting = inSeconds(account.compute), inSeconds(account.mpi), a.timed(account.waited)
		}
	}
	return times
}

func functionTimes(a *allAccounts) []ranks.FunctionTime {
	byName := map[string]*ranks.FunctionTime{}
	for _, what := range a.sorted(func(activity) bool { return true }, func(t *tally) int64 { return t.ns }) {
		t, name := a.total[what], string(accounts.Computation)
		if !what.computes() {
			name = a.names.function(what.function)
		}
		f := byName[name]
		if f == nil {
			f = &ranks.FunctionTime{Function: name, Waiting: a.timed(0), Path: a.timed(0)}
			byName[name] = f
		}
		f.Calls += t.count
		f.Seconds += inSeconds(t.ns)
		if !a.sums {
			*f.Waiting += inSeconds(t.waited)
			*f.Path += inSeconds(t.path)
		}
	}
	list := make([]ranks.FunctionTime, 0, len(byName))
	for _, f := range byName {
		list = append(list, *f)
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].Seconds > list[j].Seconds || list[i].Seconds == list[j].Seconds && list[i].Function < list[j].Function
	})
	return list
}

func siteTimes(a *allAccounts) []ranks.SiteTime {
	list := []ranks.SiteTime{}
	for _, what := range a.sorted(func(w activity) bool { return !w.computes() }, func(t *tally) int64 { return t.ns }) {
		if len(list) == maxRows {
			break
		}
		t := a.total[what]
		list = append(list, ranks.SiteTime{
			Function: a.names.function(what.function), CallSite: a.names.site(what.site), Calls: t.count,
			Seconds: inSeconds(t.ns), Waiting: a.timed(t.waited), Path: a.timed(t.path),
		})
	}
	return list
}

func regionTimes(a *allAccounts) []ranks.RegionTime {
	list := []ranks.RegionTime{}
	n := 0
	for row := range a.ranks {
		if i := a.mainOf[row]; i >= 0 && !a.extents[i].empty {
			n++
		}
	}
	for _, what := range a.sorted(activity.computes, func(t *tally) int64 { return t.ns }) {
		if len(list) == maxRows {
			break
		}
		t := a.total[what]
		r := ranks.RegionTime{
			Before: a.names.place(what.next, what.nextSite),
			Count:  t.count, Seconds: inSeconds(t.ns), MeanSeconds: inSeconds(t.ns) / float64(max(1, n)), Path: a.timed(t.path),
		}
		if !a.sums {
			r.After = new(a.names.place(what.function, what.site))
			r.Imbalance = new(max(0, *r.Path-r.MeanSeconds))
		}
		for row := range a.ranks {
			if i := a.mainOf[row]; i >= 0 {
				if own := a.each[i].tallies[what]; own != nil && inSeconds(own.ns) > r.MaxSeconds {
					r.MaxSeconds, r.MaxRank = inSeconds(own.ns), a.ranks[row].Rank
				}
			}
		}
		list = append(list, r)
	}
	return list
}
