// Package report turns findings into what a person opens.
//
// In go the trace's own data and the findings of the other analyses; out come report.json, versioned and described by
// docs/report.schema.json, summary.txt, the same in short for a terminal, and index.html, one page that needs nothing but itself: no network, no server, from a bucket
// or from disk. The verdict comes first, then what to do next, then what it is based on.
//
// The page is made on the server's side as far as possible (html/template), so that it can be read without scripts, by
// screen readers and on paper. It is a list of sections (sections.go): each has a template, page/sections/<name>.html.tmpl,
// a view, which is what that is given, and, where there is something to draw, a script, page/sections/<name>.js, which
// is given the section's chart data. Scripts sort tables and draw with Apache ECharts (assets/, committed and licensed
// as assets/LICENSES.txt says).
package report
