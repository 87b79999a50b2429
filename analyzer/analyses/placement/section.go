package placement

import (
	"embed"

	"github.com/cairn-mpi/cairn/analyzer/placement"
	"github.com/cairn-mpi/cairn/analyzer/report/section"
)

//go:embed placement.html.tmpl
var files embed.FS

// Sections are the sections of the report that show the findings.
var Sections = []section.Section{{Name: "placement", Title: "Placement", Files: files, View: view}}

// placementView is the view of the actual and the better placement.
type placementView struct{ *placement.Findings }

// view returns the placement, nil if there is only one node.
func view(r *section.Run) any {
	p := section.Of[Findings](r).Placement
	if p == nil || len(p.Nodes) < 2 {
		return nil
	}
	return placementView{p}
}

// Part formats a number of bytes as a part of all.
func (v placementView) Part(bytes uint64) string {
	if v.Bytes == 0 {
		return section.Percent(0)
	}
	return section.Percent(float64(bytes) / float64(v.Bytes))
}
