package report

import (
	"bytes"
	_ "embed" // the page's parts
	"encoding/json"
	"fmt"
	"html/template"
	"math"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
)

//go:embed page/page.html.tmpl
var pageText string

//go:embed page/page.css
var styleText string

//go:embed page/page.js
var scriptText string

//go:embed assets/echarts.min.js
var libraryText string

// page is what the template shows.
type page struct {
	Report      *Report
	Title       string
	Style       template.CSS
	Library     template.JS
	Script      template.JS
	Data        template.JS
	Named       bool
	Host        string
	Next        []string
	Warnings    []string
	Tiles       []tile
	InPods      bool
	PathPlaces  []criticalpath.SiteShare
	Regions     []criticalpath.RegionTime
	MoreRegions int
	Sites       []criticalpath.SiteTime
	MoreSites   int
	Origin      []fact
	ChartLabel  string
	ChartHeight int
}

// A tile is one efficiency.
type tile struct {
	Name, Means, Grade string
	Percent            int
}

// A fact is a line of the provenance.
type fact struct{ Name, Value string }

// tableRows bounds the page's tables of places; report.json has more.
const tableRows = 60

// HTML is index.html.
func (r *Report) HTML() ([]byte, error) {
	data, err := r.chartData()
	if err != nil {
		return nil, err
	}
	p := page{
		Report: r, Title: r.title(), Style: template.CSS(styleText), Library: template.JS(libraryText), Script: template.JS(scriptText),
		Data: template.JS(data), Named: r.Verdict.Rank != nil, Next: r.next(), Warnings: r.warnings(), Tiles: r.tiles(), InPods: r.inPods(),
		PathPlaces: first(r.Path.ByCallSite, 16), Regions: first(r.Computation, tableRows), MoreRegions: max(0, len(r.Computation)-tableRows),
		Sites: first(r.CallSites, tableRows), MoreSites: max(0, len(r.CallSites)-tableRows), Origin: r.origin(),
		ChartHeight: 100 + min(700, max(120, 26*len(r.Ranks))),
		ChartLabel:  "Time line of all ranks with the critical path. " + r.Verdict.Text,
	}
	if p.Named {
		for _, rank := range r.Ranks {
			if rank.Rank == *r.Verdict.Rank {
				p.Host = rank.Host
			}
		}
	}
	t, err := template.New("page").Funcs(template.FuncMap{
		"seconds": words, "fixed": fixed, "percent": percent, "explain": explain,
		"place": func(p criticalpath.Place) string { return callsite.At(p.Function, p.CallSite) },
		"minus": func(a, b float64) float64 { return a - b },
		"deref": func(i *int) int { return *i },
	}).Parse(pageText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }

func (r *Report) title() string {
	if r.Provenance.Job != "" {
		return "Cairn: " + r.Provenance.Job
	}
	return "Cairn report"
}

func (r *Report) inPods() bool {
	for _, rank := range r.Ranks {
		if rank.Pod != "" || rank.Node != "" {
			return true
		}
	}
	return false
}

// chartData is what the time line draws; times in seconds.
func (r *Report) chartData() ([]byte, error) {
	type segment [7]any
	data := struct {
		Run      float64   `json:"run"`
		Bins     int       `json:"bins"`
		Ranks    []int     `json:"ranks"`
		Where    []string  `json:"where"`
		MPI      [][]byte  `json:"mpi"`
		Wait     [][]byte  `json:"wait"`
		Segments []segment `json:"segments"`
	}{Run: r.RunSeconds, Bins: max(1, r.Strips.Bins), MPI: r.Strips.MPI, Wait: r.Strips.Wait, Segments: []segment{}}
	for _, rank := range r.Ranks {
		data.Ranks = append(data.Ranks, rank.Rank)
		where := rank.Pod
		if where == "" {
			where = rank.Host
		}
		data.Where = append(data.Where, where)
	}
	for _, s := range r.Path.Segments {
		data.Segments = append(data.Segments, segment{s.Rank, float64(s.StartNS) / 1e9, float64(s.EndNS) / 1e9, s.Kind, s.Function, s.CallSite, s.Merged})
	}
	return json.Marshal(data)
}

func fixed(s float64) string {
	switch {
	case s == 0:
		return "0"
	case s < 0.001:
		return fmt.Sprintf("%.6f", s)
	case s < 10:
		return fmt.Sprintf("%.4f", s)
	}
	return fmt.Sprintf("%.2f", s)
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// words is a duration for a sentence.
func words(s float64) string {
	switch {
	case s >= 100:
		return fmt.Sprintf("%.0f s", s)
	case s >= 1:
		return fmt.Sprintf("%.1f s", s)
	case s >= 0.001:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.3g µs", s*1e6)
}

func whole(share float64) int { return int(math.Round(100 * share)) }
