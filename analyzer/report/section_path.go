package report

import (
	"github.com/cairn-mpi/cairn/analyzer/analyses/path"
)

// pathView is what the critical path consists of.
type pathView struct {
	*path.Path
	Places    []path.SiteShare
	Functions []path.FuncShare
	Nodes     []path.NodeShare // nil where there is only one
	InPods    bool
	Impacts   table[path.ActivityImpact]
}

// pathRows bounds its tables.
const pathRows = 16

func viewPath(r *Report) any {
	if r.Path == nil {
		return nil
	}
	v := pathView{Path: r.Path, Places: first(r.Path.ByCallSite, pathRows), Functions: first(r.Path.ByFunction, pathRows), InPods: r.inPods()}
	if len(r.Path.ByNode) > 1 {
		v.Nodes = first(r.Path.ByNode, pathRows)
	}
	v.Impacts = table[path.ActivityImpact]{first(r.impacts(), pathRows), len(r.Path.Impact.Activities) - len(first(r.impacts(), pathRows))}
	return v
}

// impacts are the activities of the path that cost at least one per cent of all ranks' time, costliest first.
func (r *Report) impacts() []path.ActivityImpact {
	const minShare = 0.01
	if r.Path == nil {
		return nil
	}
	list := r.Path.Impact.Activities
	for i := range list {
		if s := list[i].Seconds(); s == 0 || s < minShare*r.Path.Impact.Allocation {
			return list[:i]
		}
	}
	return list
}
