package path

import (
	"context"
	"sort"

	ofphases "github.com/cairn-mpi/cairn/analyzer/analyses/phases"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/route"
	"github.com/cairn-mpi/cairn/analyzer/phases"
)

// Analysis describes the critical path.
var Analysis = analysis.New("path", analysis.About{Title: "critical path", Version: 1, Sections: Sections}, find, accounts.Pass, route.Pass, accounts.Segments, ofphases.Analysis)

func find(_ context.Context, r *pass.Run) (Findings, error) {
	a := accounts.Pass.Result(r)
	if a.Sums {
		return Findings{}, nil
	}
	m := pathMaker{a, route.Pass.Result(r)}
	f := m.path(accounts.Segments.Result(r))
	f.ByPhase = m.byPhase(ofphases.Analysis.Result(r).Phases)
	return Findings{Path: &f}, nil
}

// A pathMaker makes a Path of the route.
type pathMaker struct {
	*accounts.Accounts
	route *route.Route
}

// path returns the path without the shares of phases.
func (a *pathMaker) path(segments int) Path {
	p := Path{ByRank: []RankShare{}, ByFunction: []FuncShare{}, ByCallSite: []SiteShare{}, Segments: []Segment{}, Stretches: a.route.Count}
	limit := max(1, a.Run()/int64(segments))
	pieces := accounts.OnePath(a.Each, limit)
	if a.route.Launch >= 0 && a.route.LaunchEnd > a.Start {
		pieces = append([]accounts.Piece{{Start: a.Start, End: a.route.LaunchEnd, Location: a.route.Launch, Kind: accounts.Launch}}, pieces...)
	}
	for _, q := range pieces {
		p.MergedSegments += q.Merged
		function, site := a.Names.Labels(q.Kind, q.What)
		p.Segments = append(p.Segments, Segment{
			Rank: a.Locations[q.Location].Rank, StartNS: q.Start - a.Start, EndNS: q.End - a.Start,
			Kind: q.Kind, Function: function, CallSite: site, Merged: q.Merged,
		})
	}
	length := int64(0)
	for row := range a.Ranks {
		own := a.route.OnPath[row]
		length += own
		if own > 0 {
			p.ByRank = append(p.ByRank, RankShare{Rank: a.Ranks[row].Rank, Seconds: accounts.Seconds(own), Share: a.Share(own)})
		}
	}
	sort.SliceStable(p.ByRank, func(i, j int) bool { return p.ByRank[i].Seconds > p.ByRank[j].Seconds })
	p.LengthSeconds = accounts.Seconds(length)
	p.ByFunction, p.ByCallSite, p.ByNode = a.byFunction(), a.byCallSite(), a.byNode()
	p.NearCritical, p.Impact = a.nearCritical(), a.impact()
	return p
}

// rest returns the parts of the path, in nanoseconds, that belong to no call or computation.
func (a *pathMaker) rest() (launch, untraced int64) {
	launch = a.route.LaunchEnd - a.Start
	if a.route.Launch < 0 {
		return 0, 0
	}
	accounted := int64(0)
	for i := range a.Each {
		accounted += a.Each[i].Path
	}
	return launch, a.Run() - launch - accounted
}

func (a *pathMaker) byFunction() []FuncShare {
	ns := map[string]int64{}
	for what, t := range a.Total {
		if what.Computes() {
			ns[string(accounts.Computation)] += t.Path
		} else {
			ns[a.Names.Function(what.Function)] += t.Path
		}
	}
	ns[string(accounts.Launch)], ns[string(accounts.Untraced)] = a.rest()
	list := []FuncShare{}
	for name, t := range ns {
		if t > 0 {
			list = append(list, FuncShare{Function: name, Seconds: accounts.Seconds(t), Share: a.Share(t)})
		}
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].Seconds > list[j].Seconds || list[i].Seconds == list[j].Seconds && list[i].Function < list[j].Function
	})
	return list
}

func (a *pathMaker) byCallSite() []SiteShare {
	list := []SiteShare{}
	for _, what := range a.Sorted(func(accounts.Activity) bool { return true }, func(t *accounts.Tally) int64 { return t.Path }) {
		t := a.Total[what]
		if t.Path == 0 || len(list) == accounts.MaxRows {
			break
		}
		kind := accounts.Communication
		if what.Computes() {
			kind = accounts.Computation
		}
		function, site := a.Names.Labels(kind, what)
		list = append(list, SiteShare{Function: function, CallSite: site, Seconds: accounts.Seconds(t.Path), Share: a.Share(t.Path)})
	}
	return list
}

// byNode sums the path by node, or by host outside Kubernetes.
func (a *pathMaker) byNode() []NodeShare {
	ns := map[string]int64{}
	for row, r := range a.Ranks {
		name := r.Node
		if name == "" {
			name = r.Host
		}
		ns[name] += a.route.OnPath[row]
	}
	list := []NodeShare{}
	for name, t := range ns {
		if t > 0 {
			list = append(list, NodeShare{Node: name, Seconds: accounts.Seconds(t), Share: a.Share(t)})
		}
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].Seconds > list[j].Seconds || list[i].Seconds == list[j].Seconds && list[i].Node < list[j].Node
	})
	return list
}

// byPhase sums the path by phase, in order of the phases. The part outside of all phases, such as
// the launch, comes last.
func (a *pathMaker) byPhase(f *phases.Findings) []PhaseShare {
	list := []PhaseShare{}
	left := accounts.Seconds(a.Run())
	share := func(seconds float64) float64 { return seconds / max(accounts.Seconds(a.Run()), 1e-9) }
	for i := range f.Phases {
		p := &f.Phases[i]
		list = append(list, PhaseShare{Phase: p.Name, Seconds: p.Path, Share: share(p.Path)})
		left -= p.Path
	}
	if left > 1e-9 {
		list = append(list, PhaseShare{Phase: "outside", Seconds: left, Share: share(left)})
	}
	return list
}

// nearest is the maximum number of ranks off the path that are named.
const nearest = 10

// nearCritical returns the ranks off the path with the least slack.
func (a *pathMaker) nearCritical() []RankSlack {
	list := []RankSlack{}
	for row, s := range a.route.Slack {
		if s >= 0 && a.route.OnPath[row] == 0 {
			list = append(list, RankSlack{Rank: a.Ranks[row].Rank, Seconds: accounts.Seconds(s)})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Seconds < list[j].Seconds })
	return list[:min(len(list), nearest)]
}
