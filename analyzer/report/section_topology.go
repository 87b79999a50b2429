package report

import (
	"fmt"
	"math"

	"github.com/cairn-mpi/cairn/analyzer/topology"
)

// topologyView is the shape in which ranks talk, in words and as the frame of its picture.
type topologyView struct {
	*topology.Findings
	Picture *picture
	Note    string
	Label   string
	Full    string // computation from which on a rank is fully coloured
	Named   bool
	Height  int
}

func viewTopology(r *Report) any {
	if r.Topology == nil {
		return nil
	}
	v := topologyView{Findings: r.Topology, Picture: newPicture(&r.Topology.Run, r.talking()), Named: r.Verdict.Rank != nil}
	if v.Picture != nil {
		_, full := r.heat()
		v.Note, v.Full = v.Picture.Note, fmt.Sprintf("%.2gx", full)
		v.Label = fmt.Sprintf("Picture of the topology, %s, of %d ranks: those that compute longer are darker.", r.Topology.Run.Topology, r.Topology.Run.Ranks)
		if v.Named {
			v.Label += fmt.Sprintf(" The verdict names %s.", r.Verdict.Ranks)
		}
		v.Height = 24 + int(min(600, 70*(v.Picture.Height+1.5), 1200*(v.Picture.Height+1.5)/(v.Picture.Width+1.5)))
	}
	return v
}

// chartTopology is the picture's points and lines, and how long ranks compute.
func chartTopology(r *Report) any {
	if r.Topology == nil {
		return nil
	}
	p := newPicture(&r.Topology.Run, r.talking())
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
		Size: [2]float64{p.Width, p.Height}, Points: p.Points, Lines: p.Lines, Places: r.Topology.Run.Places,
		Seconds: make([]*float64, len(p.Points)), Named: []int{},
	}
	if data.Lines == nil {
		data.Lines = [][4]float64{}
	}
	if data.Places == nil {
		data.Places = [][]int{}
	}
	data.Heat, _ = r.heat()
	for i := range r.Ranks {
		if rank := r.Ranks[i].Rank; rank < len(data.Seconds) {
			data.Seconds[rank] = &r.Ranks[i].Computation
		}
	}
	for _, rank := range culprits(r) {
		if rank < len(data.Points) {
			data.Named = append(data.Named, rank)
		}
	}
	return data
}

// heat is for each rank of the topology how much longer it computes than the mean, 0 … 1, and how many times the mean
// is 1: at least 1.2, so that noise stays pale.
func (r *Report) heat() ([]float64, float64) {
	mean, most := 0.0, 0.0
	for _, rank := range r.Ranks {
		mean += rank.Computation / float64(len(r.Ranks))
		most = max(most, rank.Computation)
	}
	heat := make([]float64, r.Topology.Run.Ranks)
	if mean <= 0 {
		return heat, 1.2
	}
	full := max(1.2, most/mean)
	for _, rank := range r.Ranks {
		if rank.Rank < len(heat) {
			heat[rank.Rank] = math.Round(100*max(0, rank.Computation/mean-1)/(full-1)) / 100
		}
	}
	return heat, full
}

// talking are the pairs of ranks with messages, where the matrix tells single ranks.
func (r *Report) talking() [][2]int {
	if r.Profile == nil || r.Profile.Matrix.Tile != 1 {
		return nil
	}
	there := map[[2]int]bool{}
	var pairs [][2]int
	for _, c := range r.Profile.Matrix.Cells {
		pair := [2]int{min(c.From, c.To), max(c.From, c.To)}
		if pair[0] != pair[1] && !there[pair] {
			there[pair] = true
			pairs = append(pairs, pair)
		}
	}
	return pairs
}
