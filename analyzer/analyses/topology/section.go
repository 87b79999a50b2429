package topology

import (
	"embed"
	"fmt"
	"math"

	"github.com/cairn-mpi/cairn/analyzer/analyses/profile"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/analyses/verdict"
	"github.com/cairn-mpi/cairn/analyzer/report/section"
	"github.com/cairn-mpi/cairn/analyzer/topology"
)

//go:embed topology.html.tmpl topology.js
var files embed.FS

// The shape in which ranks talk.
var Sections = []section.Section{{Name: "topology", Title: "Topology", Files: files, View: view, Chart: chart}}

// topologyView is the topology of the communication, in words and as the frame of its picture.
type topologyView struct {
	*topology.Findings
	Picture *picture
	Note    string
	Label   string
	Full    string // computation from which on a rank is fully colored
	Named   bool
	Height  int
}

func view(r *section.Run) any {
	if section.Of[Findings](r).Topology == nil {
		return nil
	}
	v := topologyView{Findings: section.Of[Findings](r).Topology, Picture: newPicture(&section.Of[Findings](r).Topology.Run, talking(r)), Named: section.Of[verdict.Findings](r).Verdict.Rank != nil}
	if v.Picture != nil {
		_, full := heat(r)
		v.Note, v.Full = v.Picture.Note, fmt.Sprintf("%.2gx", full)
		v.Label = fmt.Sprintf("Picture of the topology, %s, of %d ranks: those that compute longer are darker.", section.Of[Findings](r).Topology.Run.Topology, section.Of[Findings](r).Topology.Run.Ranks)
		if v.Named {
			v.Label += fmt.Sprintf(" The verdict names %s.", section.Of[verdict.Findings](r).Verdict.Ranks)
		}
		v.Height = 24 + int(min(600, 70*(v.Picture.Height+1.5), 1200*(v.Picture.Height+1.5)/(v.Picture.Width+1.5)))
	}
	return v
}

// chart is the picture's points and lines, and how long ranks compute.
func chart(r *section.Run) any {
	if section.Of[Findings](r).Topology == nil {
		return nil
	}
	p := newPicture(&section.Of[Findings](r).Topology.Run, talking(r))
	if p == nil {
		return nil
	}
	data := struct {
		Size    [2]float64   `json:"size"`
		Points  [][2]float64 `json:"points"`
		Lines   [][4]float64 `json:"lines"`
		Places  [][]int      `json:"places"`
		Seconds []*float64   `json:"seconds"` // null: the rank is not in the trace
		Heat    []float64    `json:"heat"`    // 0 … 1
		Named   []int        `json:"named"`
	}{
		Size: [2]float64{p.Width, p.Height}, Points: p.Points, Lines: p.Lines, Places: section.Of[Findings](r).Topology.Run.Places,
		Seconds: make([]*float64, len(p.Points)), Named: []int{},
	}
	if data.Lines == nil {
		data.Lines = [][4]float64{}
	}
	if data.Places == nil {
		data.Places = [][]int{}
	}
	data.Heat, _ = heat(r)
	for i := range section.Of[ranks.Findings](r).Ranks {
		if rank := section.Of[ranks.Findings](r).Ranks[i].Rank; rank < len(data.Seconds) {
			data.Seconds[rank] = &section.Of[ranks.Findings](r).Ranks[i].Computation
		}
	}
	for _, rank := range r.Named {
		if rank < len(data.Points) {
			data.Named = append(data.Named, rank)
		}
	}
	return data
}

// heat is for each rank of the topology how much longer it computes than the mean, 0 … 1, and how many times the mean
// is 1: at least 1.2, so that noise stays pale.
func heat(r *section.Run) ([]float64, float64) {
	mean, most := 0.0, 0.0
	for _, rank := range section.Of[ranks.Findings](r).Ranks {
		mean += rank.Computation / float64(len(section.Of[ranks.Findings](r).Ranks))
		most = max(most, rank.Computation)
	}
	heat := make([]float64, section.Of[Findings](r).Topology.Run.Ranks)
	if mean <= 0 {
		return heat, 1.2
	}
	full := max(1.2, most/mean)
	for _, rank := range section.Of[ranks.Findings](r).Ranks {
		if rank.Rank < len(heat) {
			heat[rank.Rank] = math.Round(100*max(0, rank.Computation/mean-1)/(full-1)) / 100
		}
	}
	return heat, full
}

// talking are the pairs of ranks with messages, where the matrix tells single ranks.
func talking(r *section.Run) [][2]int {
	if section.Of[profile.Findings](r).Profile == nil || section.Of[profile.Findings](r).Profile.Matrix.Tile != 1 {
		return nil
	}
	there := map[[2]int]bool{}
	var pairs [][2]int
	for _, c := range section.Of[profile.Findings](r).Profile.Matrix.Cells {
		pair := [2]int{min(c.From, c.To), max(c.From, c.To)}
		if pair[0] != pair[1] && !there[pair] {
			there[pair] = true
			pairs = append(pairs, pair)
		}
	}
	return pairs
}
