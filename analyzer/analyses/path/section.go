package path

import (
	"embed"

	"github.com/cairn-mpi/cairn/analyzer/report/section"
)

//go:embed path.html.tmpl
var files embed.FS

// Sections are the parts of the critical path.
var Sections = []section.Section{{Name: "path", Title: "Critical path", Files: files, View: view}}

// pathView is the view of the critical path.
type pathView struct {
	*Path
	Places    []SiteShare
	Functions []FuncShare
	Nodes     []NodeShare // nil if there is only one
	InPods    bool
	Impacts   section.Table[ActivityImpact]
}

// pathRows is the maximum number of rows of the section's tables.
const pathRows = 16

func view(r *section.Run) any {
	f := section.Of[Findings](r)
	if f.Path == nil {
		return nil
	}
	v := pathView{Path: f.Path, Places: section.First(f.Path.ByCallSite, pathRows), Functions: section.First(f.Path.ByFunction, pathRows), InPods: r.InPods()}
	if len(f.Path.ByNode) > 1 {
		v.Nodes = section.First(f.Path.ByNode, pathRows)
	}
	v.Impacts = section.Table[ActivityImpact]{Rows: section.First(f.Costly(), pathRows), More: len(f.Path.Impact.Activities) - len(section.First(f.Costly(), pathRows))}
	return v
}

// Costly returns the activities of the path that cost at least one percent of the time of all
// ranks, costliest first.
func (f Findings) Costly() []ActivityImpact {
	const minShare = 0.01
	if f.Path == nil {
		return nil
	}
	list := f.Path.Impact.Activities
	for i := range list {
		if s := list[i].Seconds(); s == 0 || s < minShare*f.Path.Impact.Allocation {
			return list[:i]
		}
	}
	return list
}
