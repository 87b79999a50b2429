package strips

import (
	"cmp"
	"embed"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/analyses/detail"
	"github.com/cairn-mpi/cairn/analyzer/analyses/path"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/analyses/verdict"
	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/report/section"
)

//go:embed timeline.html.tmpl timeline.js
var files embed.FS

// Sections are the timeline of all ranks with the critical path.
var Sections = []section.Section{{Name: "timeline", Title: "Timeline", Files: files, View: view, Chart: chart}}

// view returns the frame of the timeline; chart fills it.
func view(r *section.Run) any {
	route, f := section.Of[path.Findings](r).Path, section.Of[Findings](r).Strips
	if f == nil {
		return nil
	}
	all := section.Of[ranks.Findings](r).Ranks
	v := struct {
		RunSeconds float64
		Label      string // text alternative of the picture
		Height     int
		Tile       int  // ranks per row
		Path       bool // the critical path is drawn, too
		Merged     int  // number of short path segments that are merged into others
		Named      bool // rows of ranks that the verdict names come first
		Detail     *detail.Detail
	}{
		RunSeconds: section.Of[run.Findings](r).RunSeconds,
		Label:      "Timeline of all ranks. " + section.Of[verdict.Findings](r).Verdict.Text,
		Height:     100 + min(700, max(120, 26*len(all))),
		Tile:       max(1, f.Tile),
		Named:      len(r.Named) > 0 && len(all) > 1,
		Detail:     section.Of[detail.Findings](r).Detail,
	}
	if route != nil {
		v.Path, v.Merged = true, route.MergedSegments
		v.Label = "Timeline of all ranks with the critical path. " + section.Of[verdict.Findings](r).Verdict.Text
	}
	return v
}

// chart returns the strips of ranks and the path; times in seconds.
func chart(r *section.Run) any {
	// rank, start, end, kind, function, call site, number of segments merged into it, strip
	type segment [8]any
	all, f := section.Of[ranks.Findings](r).Ranks, section.Of[Findings](r).Strips
	data := struct {
		Run      float64   `json:"run"`
		Bins     int       `json:"bins"`
		Ranks    []int     `json:"ranks"` // first rank of each strip
		Last     []int     `json:"last"`  // and last rank
		Hosts    []string  `json:"hosts"`
		Where    []int     `json:"where"` // by strip, index into Hosts; −1: several
		MPI      [][]byte  `json:"mpi"`
		Wait     [][]byte  `json:"wait"`
		Named    int       `json:"named"`    // number of leading strips: those with a rank that the verdict names
		Culprits []int     `json:"culprits"` // the named rank of each of these
		Segments []segment `json:"segments"`
		Detail   any       `json:"detail"`
	}{Run: section.Of[run.Findings](r).RunSeconds, Bins: max(1, f.Bins), MPI: f.MPI, Wait: f.Wait, Segments: []segment{}}
	number, strip, tile := map[string]int{}, map[int]int{}, max(1, f.Tile)
	for at, rank := range all {
		host := cmp.Or(rank.Pod, rank.Host)
		i, known := number[host]
		if !known {
			i = len(data.Hosts)
			number[host] = i
			data.Hosts = append(data.Hosts, host)
		}
		if at%tile == 0 {
			data.Ranks, data.Last, data.Where = append(data.Ranks, rank.Rank), append(data.Last, rank.Rank), append(data.Where, i)
		}
		n := len(data.Ranks) - 1
		strip[rank.Rank], data.Last[n] = n, rank.Rank
		if data.Where[n] != i {
			data.Where[n] = -1
		}
	}
	order, named := stripOrder(r, strip, len(data.Ranks))
	data.Named, data.Culprits = len(named), named
	data.Ranks, data.Last, data.Where = reorder(data.Ranks, order), reorder(data.Last, order), reorder(data.Where, order)
	data.MPI, data.Wait = reorder(data.MPI, order), reorder(data.Wait, order)
	row := make([]int, len(order))
	for i, was := range order {
		row[was] = i
	}
	for rank, was := range strip {
		strip[rank] = row[was]
	}
	data.Detail = chartDetail(r)
	if route := section.Of[path.Findings](r).Path; route != nil {
		for _, s := range route.Segments {
			data.Segments = append(data.Segments, segment{s.Rank, float64(s.StartNS) / 1e9, float64(s.EndNS) / 1e9, s.Kind, s.Function, callsite.Short(s.CallSite), s.Merged, strip[s.Rank]})
		}
	}
	return data
}

// stripOrder returns the order in which strips are shown, those of ranks that the verdict names
// first. named has one rank for each of these.
func stripOrder(r *section.Run, strip map[int]int, strips int) (order, named []int) {
	named = []int{}
	for _, rank := range r.Named {
		if i, there := strip[rank]; there && !slices.Contains(order, i) && len(order) < maxNamedRows {
			order, named = append(order, i), append(named, rank)
		}
	}
	for i := range strips {
		if !slices.Contains(order[:len(named)], i) {
			order = append(order, i)
		}
	}
	return order, named
}

// maxNamedRows is the maximum number of strips that come first.
const maxNamedRows = 16

// reorder returns the elements of list in another order. Indices beyond the list are skipped.
func reorder[T any](list []T, order []int) []T {
	var ordered []T
	for _, i := range order {
		if i < len(list) {
			ordered = append(ordered, list[i])
		}
	}
	return ordered
}

// chartDetail returns the calls of the detail: names by number, times in nanoseconds since the
// start of the interval.
func chartDetail(r *section.Run) any {
	d := section.Of[detail.Findings](r).Detail
	if d == nil {
		return nil
	}
	data := struct {
		From     float64     `json:"from"` // seconds
		To       float64     `json:"to"`
		Title    string      `json:"title"`
		Ranks    []int       `json:"ranks"`
		Names    [][2]string `json:"names"`    // function, call site
		Calls    [][5]int64  `json:"calls"`    // rank, thread, name, begin, length
		Messages [][3]int64  `json:"messages"` // from which call, to which, bytes
		Kinds    []string    `json:"kinds"`
		Waits    [][5]int64  `json:"waits"` // rank, kind, cause, begin, length
	}{From: float64(d.FromNS) / 1e9, To: float64(d.ToNS) / 1e9, Title: d.Title, Ranks: d.Ranks, Calls: [][5]int64{}, Messages: [][3]int64{}, Kinds: []string{}, Waits: [][5]int64{}}
	number := map[[2]string]int{}
	for _, c := range d.Calls {
		name := [2]string{c.Function, callsite.Short(c.CallSite)}
		i, known := number[name]
		if !known {
			i = len(data.Names)
			number[name] = i
			data.Names = append(data.Names, name)
		}
		data.Calls = append(data.Calls, [5]int64{int64(c.Rank), int64(c.Thread), int64(i), c.BeginNS - d.FromNS, c.EndNS - c.BeginNS})
	}
	for _, m := range d.Messages {
		data.Messages = append(data.Messages, [3]int64{int64(m.From), int64(m.To), m.Bytes})
	}
	for _, w := range d.Waits {
		i := slices.Index(data.Kinds, w.Kind)
		if i < 0 {
			i = len(data.Kinds)
			data.Kinds = append(data.Kinds, w.Kind)
		}
		data.Waits = append(data.Waits, [5]int64{int64(w.Rank), int64(i), int64(w.Cause), w.BeginNS - d.FromNS, w.EndNS - w.BeginNS})
	}
	return data
}
