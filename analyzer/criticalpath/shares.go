package criticalpath

import (
	"sort"

	"github.com/cairn-mpi/cairn/analyzer/analyses/path"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/phases"
)

// pathFindings words the path.
func (a *analysis) pathFindings(o Options) path.Path {
	p := path.Path{ByRank: []path.RankShare{}, ByFunction: []path.FuncShare{}, ByCallSite: []path.SiteShare{}, Segments: []path.Segment{}, Stretches: a.path.count}
	limit := max(1, a.run()/int64(o.segments()))
	pieces := onePath(a.accounts, limit)
	if a.path.launch >= 0 && a.path.launchEnd > a.path.start {
		pieces = append([]piece{{start: a.path.start, end: a.path.launchEnd, location: a.path.launch, kind: accounts.Launch}}, pieces...)
	}
	for _, q := range pieces {
		p.MergedSegments += q.merged
		function, site := a.names.labels(q.kind, q.what)
		p.Segments = append(p.Segments, path.Segment{
			Rank: a.forward.locations[q.location].Rank, StartNS: q.start - a.path.start, EndNS: q.end - a.path.start,
			Kind: q.kind, Function: function, CallSite: site, Merged: q.merged,
		})
	}
	length := int64(0)
	for row := range a.ranks {
		own := a.onPath(row)
		length += own
		if own > 0 {
			p.ByRank = append(p.ByRank, path.RankShare{Rank: a.ranks[row].Rank, Seconds: a.seconds(own), Share: a.share(own)})
		}
	}
	sort.SliceStable(p.ByRank, func(i, j int) bool { return p.ByRank[i].Seconds > p.ByRank[j].Seconds })
	p.LengthSeconds = a.seconds(length)
	p.ByFunction, p.ByCallSite, p.ByNode = a.byFunction(), a.byCallSite(), a.byNode()
	p.NearCritical, p.Impact = a.nearCritical(), a.impact()
	return p
}

// onPath is a rank's part of the path.
func (a *analysis) onPath(row int) int64 {
	ns := int64(0)
	for i := max(0, a.mainOf[row]); i < len(a.forward.locations) && a.forward.locations[i].Row == row; i++ {
		ns += a.path.stretches[i].ns
		if i == a.path.launch {
			ns += a.path.launchEnd - a.path.start
		}
	}
	return ns
}

// rest is what of the path no call and no computation accounts for.
func (a *analysis) rest() (launch, untraced int64) {
	launch = a.path.launchEnd - a.path.start
	if a.path.launch < 0 {
		return 0, 0
	}
	accounted := int64(0)
	for i := range a.accounts {
		accounted += a.accounts[i].path
	}
	return launch, a.run() - launch - accounted
}

func (a *analysis) byFunction() []path.FuncShare {
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
			list = append(list, path.FuncShare{Function: name, Seconds: a.seconds(t), Share: a.share(t)})
		}
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].Seconds > list[j].Seconds || list[i].Seconds == list[j].Seconds && list[i].Function < list[j].Function
	})
	return list
}

func (a *analysis) byCallSite() []path.SiteShare {
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
		list = append(list, path.SiteShare{Function: function, CallSite: site, Seconds: a.seconds(t.path), Share: a.share(t.path)})
	}
	return list
}

// byNode adds the path up by nodes, or by hosts outside Kubernetes.
func (a *analysis) byNode() []path.NodeShare {
	ns := map[string]int64{}
	for row, r := range a.ranks {
		name := r.Node
		if name == "" {
			name = r.Host
		}
		ns[name] += a.onPath(row)
	}
	list := []path.NodeShare{}
	for name, t := range ns {
		if t > 0 {
			list = append(list, path.NodeShare{Node: name, Seconds: a.seconds(t), Share: a.share(t)})
		}
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].Seconds > list[j].Seconds || list[i].Seconds == list[j].Seconds && list[i].Node < list[j].Node
	})
	return list
}

// byPhase is the path by phases, in their order; what is in none, as the launch, comes last.
func (a *analysis) byPhase(f *phases.Findings) []path.PhaseShare {
	list := []path.PhaseShare{}
	left := a.seconds(a.run())
	share := func(seconds float64) float64 { return seconds / max(a.seconds(a.run()), 1e-9) }
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

// stretchesOf lists the stretches of the path on the rank of a location.
func (a *analysis) stretchesOf(location int, yield func(begin, end int64)) {
	row := a.forward.locations[location].Row
	for i := location; i < len(a.forward.locations) && a.forward.locations[i].Row == row; i++ {
		r := a.path.stretches[i].forward()
		for s := r.peek(); s != nil; s = r.peek() {
			yield(s.start, s.end)
			r.next++
		}
	}
}
