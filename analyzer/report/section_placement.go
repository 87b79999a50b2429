package report

import "github.com/cairn-mpi/cairn/analyzer/placement"

// placementView is where ranks are, and where they should be.
type placementView struct{ *placement.Findings }

// viewPlacement shows where ranks are, where there are several nodes.
func viewPlacement(r *Report) any {
	p := r.Placement
	if p == nil || len(p.Nodes) < 2 {
		return nil
	}
	return placementView{p}
}

// Part is a number of bytes as a part of all.
func (v placementView) Part(bytes uint64) string {
	if v.Bytes == 0 {
		return percent(0)
	}
	return percent(float64(bytes) / float64(v.Bytes))
}
