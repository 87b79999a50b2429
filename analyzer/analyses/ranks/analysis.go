package ranks

import (
	"context"
	"sort"

	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/delays"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/pass/route"
)

// Analysis reports how ranks spent their time.
var Analysis = analysis.New("ranks", analysis.About{Title: "times of ranks, functions, call sites and computations", Version: 1, Sections: Sections}, find,
	accounts.Pass, matching.Pass, route.Pass, delays.Pass)

func find(_ context.Context, r *pass.Run) (Findings, error) {
	a := accounts.Pass.Result(r)
	f := Findings{Functions: functionTimes(a), CallSites: siteTimes(a), Computation: regionTimes(a)}
	f.Ranks = rankTimes(a, matching.Pass.Result(r), route.Pass.Result(r), delays.Pass.Result(r).ByRow(len(a.Ranks)))
	return f, nil
}

// rankTimes returns the times of ranks. f and p are nil if only sums are known.
func rankTimes(a *accounts.Accounts, f *matching.Result, p *route.Route, byRank []float64) []RankTime {
	times := make([]RankTime, len(a.Ranks))
	for row, r := range a.Ranks {
		times[row] = RankTime{Rank: r.Rank, Pod: r.Pod, Node: r.Node, Host: r.Host, EndedEarly: r.EndedEarly}
		if !a.Sums {
			path := p.OnPath[row]
			times[row].Path, times[row].PathShare = new(accounts.Seconds(path)), new(a.Share(path))
			times[row].Slack = new(accounts.Seconds(max(0, p.Slack[row])))
			times[row].Waiting, times[row].CausedWaiting = new(0.0), new(0.0)
			times[row].DelayCost = &byRank[row]
		}
		if i := a.MainOf[row]; i >= 0 {
			times[row].Initialization, times[row].Finalization = accounts.Seconds(a.Each[i].Initialize), accounts.Seconds(a.Each[i].Finalize)
		}
	}
	for i, l := range a.Locations {
		t, account := &times[l.Row], &a.Each[i]
		t.Calls += account.Calls
		if !a.Sums {
			*t.CausedWaiting += accounts.Seconds(f.Caused[i])
		}
		if i == l.Main {
			t.Computation, t.MPI, t.Waiting = accounts.Seconds(account.Compute), accounts.Seconds(account.Mpi), a.Timed(account.Waited)
		}
	}
	return times
}

func functionTimes(a *accounts.Accounts) []FunctionTime {
	byName := map[string]*FunctionTime{}
	for _, what := range a.Sorted(func(accounts.Activity) bool { return true }, func(t *accounts.Tally) int64 { return t.Ns }) {
		t, name := a.Total[what], string(accounts.Computation)
		if !what.Computes() {
			name = a.Names.Function(what.Function)
		}
		f := byName[name]
		if f == nil {
			f = &FunctionTime{Function: name, Waiting: a.Timed(0), Path: a.Timed(0)}
			byName[name] = f
		}
		f.Calls += t.Count
		f.Seconds += accounts.Seconds(t.Ns)
		if !a.Sums {
			*f.Waiting += accounts.Seconds(t.Waited)
			*f.Path += accounts.Seconds(t.Path)
		}
	}
	list := make([]FunctionTime, 0, len(byName))
	for _, f := range byName {
		list = append(list, *f)
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].Seconds > list[j].Seconds || list[i].Seconds == list[j].Seconds && list[i].Function < list[j].Function
	})
	return list
}

func siteTimes(a *accounts.Accounts) []SiteTime {
	list := []SiteTime{}
	for _, what := range a.Sorted(func(w accounts.Activity) bool { return !w.Computes() }, func(t *accounts.Tally) int64 { return t.Ns }) {
		if len(list) == accounts.MaxRows {
			break
		}
		t := a.Total[what]
		list = append(list, SiteTime{
			Function: a.Names.Function(what.Function), CallSite: a.Names.Site(what.Site), Calls: t.Count,
			Seconds: accounts.Seconds(t.Ns), Waiting: a.Timed(t.Waited), Path: a.Timed(t.Path),
		})
	}
	return list
}

func regionTimes(a *accounts.Accounts) []RegionTime {
	list := []RegionTime{}
	n := 0
	for row := range a.Ranks {
		if i := a.MainOf[row]; i >= 0 && !a.Extents[i].Empty {
			n++
		}
	}
	for _, what := range a.Sorted(accounts.Activity.Computes, func(t *accounts.Tally) int64 { return t.Ns }) {
		if len(list) == accounts.MaxRows {
			break
		}
		t := a.Total[what]
		r := RegionTime{
			Before: a.Names.Call(what.Next, what.NextSite),
			Count:  t.Count, Seconds: accounts.Seconds(t.Ns), MeanSeconds: accounts.Seconds(t.Ns) / float64(max(1, n)), Path: a.Timed(t.Path),
		}
		if !a.Sums {
			r.After = new(a.Names.Call(what.Function, what.Site))
			r.Imbalance = new(max(0, *r.Path-r.MeanSeconds))
		}
		for row := range a.Ranks {
			if i := a.MainOf[row]; i >= 0 {
				if own := a.Each[i].Tallies[what]; own != nil && accounts.Seconds(own.Ns) > r.MaxSeconds {
					r.MaxSeconds, r.MaxRank = accounts.Seconds(own.Ns), a.Ranks[row].Rank
				}
			}
		}
		list = append(list, r)
	}
	return list
}
