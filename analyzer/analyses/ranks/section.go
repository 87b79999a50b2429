package ranks

import (
	"cmp"
	"embed"
	"fmt"
	"slices"

	calls "github.com/cairn-mpi/cairn/analyzer/analyses/profile"
	"github.com/cairn-mpi/cairn/analyzer/profile"
	"github.com/cairn-mpi/cairn/analyzer/report/section"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

//go:embed *.html.tmpl ranks.js
var files embed.FS

// Sections compare ranks with each other, and show where all of them together spent their time.
var Sections = []section.Section{
	{Name: "ranks", Title: "Ranks", Files: files, View: view, Chart: chart},
	{Name: "computation", Title: "Computation", Files: files, View: viewComputation},
	{Name: "calls", Title: "MPI calls", Files: files, View: viewCalls},
}

// Limits of the page; report.json has all ranks.
const (
	maxRankRows    = 1024 // of the table
	maxRankColumns = 2048 // of the strips
	// maximum number of ranks named by the verdict that have columns of their own, before all
	// others
	maxNamedColumns = 8
)

// ranksView is the strips of ranks and their table.
type ranksView struct {
	Ranks   []RankTime
	Omitted int // from the table
	Tile    int // ranks per column of the strips
	Label   string
	InPods  bool
	named   []int
}

func view(r *section.Run) any {
	all := section.Of[Findings](r).Ranks
	if len(all) == 0 {
		return nil
	}
	v := ranksView{Ranks: Listed(r), Tile: rankTile(len(all)), InPods: r.InPods(), named: r.Named}
	v.Omitted = len(all) - len(v.Ranks)
	busiest := slices.MaxFunc(all, func(a, b RankTime) int { return cmp.Compare(a.Computation, b.Computation) })
	v.Label = fmt.Sprintf("Strips of all ranks. Rank %d computes longest, %s.", busiest.Rank, wording.Duration(busiest.Computation))
	if all[0].CausedWaiting != nil {
		awaited := slices.MaxFunc(all, func(a, b RankTime) int {
			return cmp.Compare(section.OrZero(a.CausedWaiting), section.OrZero(b.CausedWaiting))
		})
		v.Label += fmt.Sprintf(" Rank %d is awaited longest, %s.", awaited.Rank, wording.Duration(section.OrZero(awaited.CausedWaiting)))
	}
	v.Label += " The table below has the values."
	return v
}

// rankTile returns the number of ranks that share a column of the strips.
func rankTile(ranks int) int { return max(1, (ranks+maxRankColumns-1)/maxRankColumns) }

// Listed returns the ranks of the table, those first that the verdict names.
func Listed(r *section.Run) []RankTime {
	ordered := section.NamedFirst(r, section.Of[Findings](r).Ranks, func(t RankTime) int { return t.Rank })
	named := min(len(r.Named), maxRankRows)
	return append(slices.Clone(ordered[:min(named, len(ordered))]), remarkable(ordered[min(named, len(ordered)):], maxRankRows-named)...)
}

// remarkable returns at most limit of the ranks, in their order: those with the longest time on the
// critical path and, among equals, in computation.
func remarkable(ranks []RankTime, limit int) []RankTime {
	if len(ranks) <= limit {
		return ranks
	}
	chosen := slices.Clone(ranks)
	slices.SortStableFunc(chosen, func(a, b RankTime) int {
		return cmp.Or(cmp.Compare(section.OrZero(b.Path), section.OrZero(a.Path)), cmp.Compare(b.Computation, a.Computation))
	})
	chosen = chosen[:limit]
	slices.SortFunc(chosen, func(a, b RankTime) int { return cmp.Compare(a.Rank, b.Rank) })
	return chosen
}

// HasNamed reports whether the verdict names ranks, but not all.
func (v ranksView) HasNamed() bool { return len(v.named) > 0 && len(v.Ranks) > 1 }

// Class returns the class of a row: ranks that the verdict names are highlighted.
func (v ranksView) Class(rank RankTime) string {
	if slices.Contains(v.named, rank.Rank) {
		return "slow"
	}
	return ""
}

// chart returns one strip for each quantity in which ranks differ.
func chart(r *section.Run) any {
	all := section.Of[Findings](r).Ranks
	type row struct {
		Name   string  `json:"name"`
		Color  string  `json:"color"`
		Most   float64 `json:"most"`   // seconds
		Values []byte  `json:"values"` // 255 is the maximum
		Named  []byte  `json:"named"`  // of the ranks that the verdict names
	}
	data := struct {
		Ranks []int `json:"ranks"`
		Tile  int   `json:"tile"`
		Named []int `json:"named"` // indices into Ranks: those that the verdict names, at most maxNamedColumns
		Rows  []row `json:"rows"`
	}{Tile: rankTile(len(all)), Named: []int{}}
	for _, rank := range all {
		data.Ranks = append(data.Ranks, rank.Rank)
	}
	for _, rank := range section.First(r.Named, maxNamedColumns) {
		if i := slices.Index(data.Ranks, rank); i >= 0 {
			data.Named = append(data.Named, i)
		}
	}
	type strip struct {
		name, color string
		of          func(RankTime) float64
	}
	strips := []strip{
		{"computes", "compute-strong", func(t RankTime) float64 { return t.Computation }},
		{"waits", "wait-strong", func(t RankTime) float64 { return section.OrZero(t.Waiting) }},
		{"other MPI", "mpi-strong", func(t RankTime) float64 { return t.MPI - section.OrZero(t.Waiting) }},
		{"awaited", "fair", func(t RankTime) float64 { return section.OrZero(t.CausedWaiting) }},
		{"caused", "bad", func(t RankTime) float64 { return section.OrZero(t.DelayCost) }},
		{"on the path", "route", func(t RankTime) float64 { return section.OrZero(t.Path) }},
	}
	if all[0].Waiting == nil { // only sums are known
		strips = []strip{strips[0], {"in MPI", "mpi-strong", func(t RankTime) float64 { return t.MPI }}}
	}
	for _, what := range strips {
		one := row{Name: what.name, Color: what.color}
		var values []float64
		for tile := range slices.Chunk(all, data.Tile) {
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
			one.Named = append(one.Named, byte(255*what.of(all[i])/max(one.Most, 1e-12)))
		}
		data.Rows = append(data.Rows, one)
	}
	return data
}

// viewComputation returns the time between calls, by location.
func viewComputation(r *section.Run) any {
	all := section.Of[Findings](r).Computation
	if len(all) == 0 {
		return nil
	}
	return section.Bounded(all)
}

// viewCalls returns the time in MPI, by call site and by message size.
func viewCalls(r *section.Run) any {
	var sizes []profile.SizeRow
	if p := section.Of[calls.Findings](r).Profile; p != nil {
		sizes = p.SizeClasses
	}
	sites := section.Of[Findings](r).CallSites
	if len(sites) == 0 && len(sizes) == 0 {
		return nil
	}
	return struct {
		section.Table[SiteTime]
		Sizes []profile.SizeRow
	}{section.Bounded(sites), sizes}
}
