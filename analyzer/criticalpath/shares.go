package criticalpath

import (
	"context"
	"sort"

	"github.com/cairn-mpi/cairn/analyzer/analyses/path"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/phases"
)

// pathAnalysis tells the critical path.
var pathAnalysis = analysis.New("path", analysis.About{Title: "critical path", Version: 1}, findPath, accountsPass, routePass, segmentsPass, phasesAnalysis)

func findPath(ctx context.Context, r *pass.Run) (path.Findings, error) {
	a, err := accountsPass.Of(ctx, r)
	if err != nil || a.sums {
		return path.Findings{}, err
	}
	along, err := routePass.Of(ctx, r)
	if err != nil {
		return path.Findings{}, err
	}
	segments, err := segmentsPass.Of(ctx, r)
	if err != nil {
		return path.Findings{}, err
	}
	inPhases, err := phasesAnalysis.Of(ctx, r)
	if err != nil {
		return path.Findings{}, err
	}
	m := pathMaker{a, along}
	f := m.path(segments)
	f.ByPhase = m.byPhase(inPhases.Phases)
	return path.Findings{Path: &f}, nil
}

// A pathMaker words the path.
type pathMaker struct {
	*allAccounts
	route *route
}

// path is all but the phases.
func (a *pathMaker) path(segments int) path.Path {
	p := path.Path{ByRank: []path.RankShare{}, ByFunction: []path.FuncShare{}, ByCallSite: []path.SiteShare{}, Segments: []path.Segment{}, Stretches: a.route.count}
	limit := max(1, a.run()/int64(segments))
	pieces := onePath(a.each, limit)
	if a.route.launch >= 0 && a.route.launchEnd > a.start {
		pieces = append([]piece{{start: a.start, end: a.route.launchEnd, location: a.route.launch, kind: accounts.Launch}}, pieces...)
	}
	for _, q := range pieces {
		p.MergedSegments += q.merged
		function, site := a.names.labels(q.kind, q.what)
		p.Segments = append(p.Segments, path.Segment{
			Rank: a.locations[q.location].Rank, StartNS: q.start - a.start, EndNS: q.end - a.start,
			Kind: q.kind, Function: function, CallSite: site, Merged: q.merged,
		})
	}
	length := int64(0)
	for row := range a.ranks {
		own := a.route.onPath[row]
		length += own
		if own > 0 {
			p.ByRank = append(p.ByRank, path.RankShare{Rank: a.ranks[row].Rank, Seconds: inSeconds(own), Share: a.share(own)})
		}
	}
	sort.SliceStable(p.ByRank, func(i, j int) bool { return p.ByRank[i].Seconds > p.ByRank[j].Seconds })
	p.LengthSeconds = inSeconds(length)
	p.ByFunction, p.ByCallSite, p.ByNode = a.byFunction(), a.byCallSite(), a.byNode()
	p.NearCritical, p.Impact = a.nearCritical(), a.impact()
	return p
}

// rest is what of the path no call and no computation accounts for.
func (a *pathMaker) rest() (launch, untraced int64) {
	launch = a.route.launchEnd - a.start
	if a.route.launch < 0 {
		return 0, 0
	}
	accounted := int64(0)
	for i := range a.each {
		accounted += a.each[i].path
	}
	return launch, a.run() - launch - accounted
}

func (a *pathMaker) byFunction() []path.FuncShare {
	ns := map[string]int64{}
	for what, t := range a.total {
		if what.computes() {
			ns[string(accounts.Computation)] += t.path
		} else {
			ns[a.names.function(what.function)] += t.path
		}
	}
	ns[string(accounts.Launch)], ns[string(accounts.Untraced)] = a.rest()
	list := []path.FuncShare{}
	for name, t := range ns {
		if t > 0 {
			list = append(list, path.FuncShare{Function: name, Seconds: inSeconds(t), Share: a.share(t)})
		}
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].Seconds > list[j].Seconds || list[i].Seconds == list[j].Seconds && list[i].Function < list[j].Function
	})
	return list
}

func (a *pathMaker) byCallSite() []path.SiteShare {
	list := []path.SiteShare{}
	for _, what := range a.sorted(func(activity) bool { return true }, func(t *tally) int64 { return t.path }) {
		t := a.total[what]
		if t.path == 0 || len(list) == maxRows {
			break
		}
		kind := accounts.Communication
		if what.computes() {
			kind = accounts.Computation
		}
		function, site := a.names.labels(kind, what)
		list = append(list, path.SiteShare{Function: function, CallSite: site, Seconds: inSeconds(t.path), Share: a.share(t.path)})
	}
	return list
}

// byNode adds the path up by nodes, or by hosts outside Kubernetes.
func (a *pathMaker) byNode() []path.NodeShare {
	ns := map[string]int64{}
	for row, r := range a.ranks {
		name := r.Node
		if name == "" {
			name = r.Host
		}
		ns[name] += a.route.onPath[row]
	}
	list := []path.NodeShare{}
	for name, t := range ns {
		if t > 0 {
			list = append(list, path.NodeShare{Node: name, Seconds: inSeconds(t), Share: a.share(t)})
		}
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].Seconds > list[j].Seconds || list[i].Seconds == list[j].Seconds && list[i].Node < list[j].Node
	})
	return list
}

// byPhase is the path by phases, in their order; what is in none, as the launch, comes last.
func (a *pathMaker) byPhase(f *phases.Findings) []path.PhaseShare {
	list := []path.PhaseShare{}
	left := inSeconds(a.run())
	share := func(seconds float64) float64 { return seconds / max(inSeconds(a.run()), 1e-9) }
	for i := range f.Phases {
		p := &f.Phases[i]
		list = append(list, path.PhaseShare{Phase: p.Name, Seconds: p.Path, Share: share(p.Path)})
		left -= p.Path
	}
	if left > 1e-9 {
		list = append(list, path.PhaseShare{Phase: "outside", Seconds: left, Share: share(left)})
	}
	return list
}

// nearest is how many ranks off the path are named.
const nearest = 10

// nearCritical are the ranks off the path with the least slack.
func (a *pathMaker) nearCritical() []path.RankSlack {
	list := []path.RankSlack{}
	for row, s := range a.route.slack {
		if s >= 0 && a.route.onPath[row] == 0 {
			list = append(list, path.RankSlack{Rank: a.ranks[row].Rank, Seconds: inSeconds(s)})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Seconds < list[j].Seconds })
	return list[:min(len(list), nearest)]
}
