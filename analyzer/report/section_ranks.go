package report

import (
	"cmp"
	"fmt"
	"slices"

	rankfindings "github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// What is shown of many ranks at most; report.json has all of them.
const (
	maxRankRows    = 1024 // of the table
	maxRankColumns = 2048 // of the strips
	// those that the verdict names have columns of their own before all others
	maxNamedColumns = 8
)

// ranksView is the strips of ranks and their table.
type ranksView struct {
	Ranks   []rankfindings.RankTime
	Omitted int // from the table
	Tile    int // ranks to a column of the strips
	Label   string
	InPods  bool
	named   []int
}

func viewRanks(r *Report) any {
	if len(r.Ranks) == 0 {
		return nil
	}
	v := ranksView{Ranks: r.listedRanks(), Tile: rankTile(len(r.Ranks)), InPods: r.inPods(), named: culprits(r)}
	v.Omitted = len(r.Ranks) - len(v.Ranks)
	busiest := slices.MaxFunc(r.Ranks, func(a, b rankfindings.RankTime) int { return cmp.Compare(a.Computation, b.Computation) })
	v.Label = fmt.Sprintf("Strips of all ranks. Rank %d computes longest, %s.", busiest.Rank, wording.Duration(busiest.Computation))
	if r.Path != nil {
		awaited := slices.MaxFunc(r.Ranks, func(a, b rankfindings.RankTime) int {
			return cmp.Compare(orZero(a.CausedWaiting), orZero(b.CausedWaiting))
		})
		v.Label += fmt.Sprintf(" Rank %d is awaited longest, %s.", awaited.Rank, wording.Duration(orZero(awaited.CausedWaiting)))
	}
	v.Label += " The table below has the values."
	return v
}

// rankTile is how many ranks share a column of the strips.
func rankTile(ranks int) int { return max(1, (ranks+maxRankColumns-1)/maxRankColumns) }

// listedRanks are those of the table: the ones that the verdict names first.
func (r *Report) listedRanks() []rankfindings.RankTime {
	ordered := culpritsFirst(r, r.Ranks, func(t rankfindings.RankTime) int { return t.Rank })
	named := min(len(culprits(r)), maxRankRows)
	return append(slices.Clone(ordered[:min(named, len(ordered))]), remarkable(ordered[min(named, len(ordered)):], maxRankRows-named)...)
}

// remarkable are at most so many of the ranks, in their order: those that are longest on the critical path, then those
// that compute longest.
func remarkable(ranks []rankfindings.RankTime, most int) []rankfindings.RankTime {
	if len(ranks) <= most {
		return ranks
	}
	chosen := slices.Clone(ranks)
	slices.SortStableFunc(chosen, func(a, b rankfindings.RankTime) int {
		return cmp.Or(cmp.Compare(orZero(b.Path), orZero(a.Path)), cmp.Compare(b.Computation, a.Computation))
	})
	chosen = chosen[:most]
	slices.SortFunc(chosen, func(a, b rankfindings.RankTime) int { return cmp.Compare(a.Rank, b.Rank) })
	return chosen
}

// HasNamed reports whether the verdict names ranks, fewer than there are.
func (v ranksView) HasNamed() bool { return len(v.named) > 0 && len(v.Ranks) > 1 }

// Class of a row: ranks that the verdict names stand out.
func (v ranksView) Class(rank rankfindings.RankTime) string {
	if slices.Contains(v.named, rank.Rank) {
		return "slow"
	}
	return ""
}

// chartRanks is a strip for each way in which ranks differ.
func chartRanks(r *Report) any {
	type row struct {
		Name   string  `json:"name"`
		Color  string  `json:"color"`
		Most   float64 `json:"most"`   // seconds
		Values []byte  `json:"values"` // 255 is the most
		Named  []byte  `json:"named"`  // of the ranks that the verdict names
	}
	data := struct {
		Ranks []int `json:"ranks"`
		Tile  int   `json:"tile"`
		Named []int `json:"named"` // indices into Ranks: those that the verdict names, at most maxNamedColumns
		Rows  []row `json:"rows"`
	}{Tile: rankTile(len(r.Ranks)), Named: []int{}}
	for _, rank := range r.Ranks {
		data.Ranks = append(data.Ranks, rank.Rank)
	}
	for _, rank := range first(culprits(r), maxNamedColumns) {
		if i := slices.Index(data.Ranks, rank); i >= 0 {
			data.Named = append(data.Named, i)
		}
	}
	type strip struct {
		name, color string
		of          func(rankfindings.RankTime) float64
	}
	strips := []strip{
		{"computes", "compute-strong", func(t rankfindings.RankTime) float64 { return t.Computation }},
		{"waits", "wait-strong", func(t rankfindings.RankTime) float64 { return orZero(t.Waiting) }},
		{"other MPI", "mpi-strong", func(t rankfindings.RankTime) float64 { return t.MPI - orZero(t.Waiting) }},
		{"awaited", "fair", func(t rankfindings.RankTime) float64 { return orZero(t.CausedWaiting) }},
		{"caused", "bad", func(t rankfindings.RankTime) float64 { return orZero(t.DelayCost) }},
		{"on the path", "route", func(t rankfindings.RankTime) float64 { return orZero(t.Path) }},
	}
	if r.Path == nil { // nothing but sums
		strips = []strip{strips[0], {"in MPI", "mpi-strong", func(t rankfindings.RankTime) float64 { return t.MPI }}}
	}
	for _, what := range strips {
		one := row{Name: what.name, Color: what.color}
		var values []float64
		for tile := range slices.Chunk(r.Ranks, data.Tile) {
			most := 0.0
			for _, rank := range tile {
				most = max(most, what.of(rank))
			}
			values = append(values, most)
			one.Most = max(one.Most, most)
		}
		for _, v := range values {
			one.Values = append(one.Values, byte(255*v/max(one.Most, 1e-12)))
		}
		for _, i := range data.Named {
			one.Named = append(one.Named, byte(255*what.of(r.Ranks[i])/max(one.Most, 1e-12)))
		}
		data.Rows = append(data.Rows, one)
	}
	return data
}

// orZero is a time that may not be known.
func orZero(seconds *float64) float64 {
	if seconds == nil {
		return 0
	}
	return *seconds
}

// inPods tells whether ranks ran in pods, so that there is more to say of their place than the host.
func (r *Report) inPods() bool {
	for _, rank := range r.Ranks {
		if rank.Pod != "" || rank.Node != "" {
			return true
		}
	}
	if len(r.Ranks) > 0 {
		return false
	}
	return slices.ContainsFunc(r.Provenance.Pods, func(h Host) bool { return h.Pod != "" || h.Node != "" })
}
