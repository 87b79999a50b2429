package report

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"io/fs"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/report/section"
)

//go:embed page
var parts embed.FS

//go:embed assets/echarts.min.js
var libraryText string

// page is the data of page.html.tmpl.
type page struct {
	Title      string
	About      []string // program, job, date
	Provenance section.Provenance
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

// head are the parts of the page that belong to no analysis; provenance comes last.
var (
	verdictBox  = section.Section{Name: "verdict", Files: pageFiles()}
	provenances = section.Section{Name: "provenance", Title: "Provenance", Files: pageFiles(), View: viewProvenance}
)

func pageFiles() fs.FS {
	sub, err := fs.Sub(parts, "page")
	if err != nil {
		panic(err) // the name is not a path
	}
	return sub
}

// HTML returns index.html, with the sections of the analyses.
func (r *Report) HTML() ([]byte, error) {
	style, err := parts.ReadFile("page/page.css")
	if err != nil {
		return nil, err
	}
	script, data := newScript(), map[string]any{}
	p := page{Title: r.title(), About: r.titleParts(), Provenance: r.Provenance, RunSeconds: r.RunSeconds(), Style: template.CSS(style), Library: template.JS(libraryText)}
	if p.Verdict, err = execute(&verdictBox, r.verdictView()); err != nil {
		return nil, err
	}
	for _, s := range r.sections() {
		view := s.View(&r.Run)
		if view == nil {
			continue
		}
		content, err := execute(&s, view)
		if err != nil {
			return nil, err
		}
		p.Sections = append(p.Sections, shownSection{s.Name, s.Title, content})
		if s.Chart == nil {
			continue
		}
		if chart := s.Chart(&r.Run); chart != nil {
			data[s.Name] = chart
			script.section(s.Files, s.Name)
		}
	}
	data["panel"] = r.chartPanel()
	script.section(pageFiles(), "panel")
	charts, err := json.Marshal(data) // with <, > and & escaped: it cannot end its element
	if err != nil {
		return nil, err
	}
	p.Data = template.JS(charts)
	if p.Script, err = script.text(); err != nil {
		return nil, err
	}
	whole := section.Section{Name: "page", Files: pageFiles()}
	content, err := execute(&whole, p)
	return []byte(content), err
}

// sections returns those of the page after the verdict, in order.
func (r *Report) sections() (all []section.Section) {
	for _, a := range r.list {
		all = append(all, a.Describe().Sections...)
	}
	return append(all, provenances)
}

// execute renders a section's content.
func execute(s *section.Section, view any) (template.HTML, error) {
	name := s.Name + ".html.tmpl"
	t, err := template.New(name).Funcs(section.Functions).Funcs(s.Functions).ParseFS(s.Files, name)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = t.Execute(&b, view)
	return template.HTML(b.String()), err
}

// script is the page's script: what all sections share, then a function for each section's chart,
// called with its data.
type script struct {
	strings.Builder
	err error
}

func newScript() *script {
	s := &script{}
	s.WriteString("'use strict';\n(() => {\nconst charts = JSON.parse(document.getElementById('data').textContent);\n")
	s.file(parts, "page/tables.js")
	s.file(parts, "page/charts.js")
	return s
}

func (s *script) file(files fs.FS, name string) {
	text, err := fs.ReadFile(files, name)
	if s.err == nil {
		s.err = err
	}
	s.Write(text)
}

func (s *script) section(files fs.FS, name string) {
	s.WriteString("((data) => {\n")
	s.file(files, name+".js")
	s.WriteString("})(charts." + name + ");\n")
}

func (s *script) text() (template.JS, error) {
	s.WriteString("})();\n")
	return template.JS(s.String()), s.err
}
