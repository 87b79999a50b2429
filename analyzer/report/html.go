package report

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

//go:embed page
var parts embed.FS

//go:embed assets/echarts.min.js
var libraryText string

// page is what page.html.tmpl shows.
type page struct {
	Title      string
	About      []string // program, job, date
	Provenance Provenance
	RunSeconds float64
	Verdict    template.HTML
	Sections   []shownSection
	Style      template.CSS
	Library    template.JS
	Script     template.JS
	Data       template.JS
}

type shownSection struct {
	Name, Title string
	Content     template.HTML
}

// templates are the page's parts by file name.
var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"seconds": wording.Duration, "fixed": fixed, "known": known, "percent": percent, "explain": explain,
	"place":    func(p verdict.Place) string { return callsite.At(p.Function, p.CallSite) },
	"minus":    func(a, b float64) float64 { return a - b },
	"plus":     func(a, b float64) float64 { return a + b },
	"activity": activity, "early": early,
	"share": func(part, whole float64) string {
		if whole <= 0 {
			return percent(0)
		}
		return percent(part / whole)
	},
}).ParseFS(parts, "page/*.html.tmpl", "page/sections/*.html.tmpl"))

// HTML is index.html.
func (r *Report) HTML() ([]byte, error) {
	style, err := parts.ReadFile("page/page.css")
	if err != nil {
		return nil, err
	}
	script, data := newScript(), map[string]any{}
	p := page{Title: r.title(), About: r.titleParts(), Provenance: r.Provenance, RunSeconds: r.RunSeconds, Style: template.CSS(style), Library: template.JS(libraryText)}
	if p.Verdict, err = execute("verdict", r.verdictView()); err != nil {
		return nil, err
	}
	for _, s := range sections {
		view := s.view(r)
		if view == nil {
			continue
		}
		content, err := execute(s.name, view)
		if err != nil {
			return nil, err
		}
		p.Sections = append(p.Sections, shownSection{s.name, s.title, content})
		if s.chart == nil {
			continue
		}
		if chart := s.chart(r); chart != nil {
			data[s.name] = chart
			script.section(s.name)
		}
	}
	data["panel"] = r.chartPanel()
	script.section("panel")
	charts, err := json.Marshal(data) // with <, > and & escaped: it cannot end its element
	if err != nil {
		return nil, err
	}
	p.Data = template.JS(charts)
	if p.Script, err = script.text(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "page.html.tmpl", p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// execute makes a section's content.
func execute(name string, view any) (template.HTML, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, name+".html.tmpl", view)
	return template.HTML(b.String()), err
}

// script is the page's own: what all sections share, then a function for each section's chart, called with its data.
type script struct {
	strings.Builder
	err error
}

func newScript() *script {
	s := &script{}
	s.WriteString("'use strict';\n(() => {\nconst charts = JSON.parse(document.getElementById('data').textContent);\n")
	s.file("page/tables.js")
	s.file("page/charts.js")
	return s
}

func (s *script) file(name string) {
	text, err := parts.ReadFile(name)
	if s.err == nil {
		s.err = err
	}
	s.Write(text)
}

func (s *script) section(name string) {
	s.WriteString("((data) => {\n")
	s.file("page/sections/" + name + ".js")
	s.WriteString("})(charts." + name + ");\n")
}

func (s *script) text() (template.JS, error) {
	s.WriteString("})();\n")
	return template.JS(s.String()), s.err
}
