// Package report turns findings into what a person opens.
//
// Its input is the trace's own data and the findings of the other analyses. Its output is
//
//   - report.json, versioned and described by docs/report.schema.json;
//   - summary.txt, a summary for a terminal;
//   - index.html, one self-contained page: it needs no network and no server, and can be opened
//     from a bucket or from disk.
//
// The verdict comes first, then what to do next, then what it is based on.
//
// The page is rendered by templates as far as possible (html/template), so that it can be read
// without scripts, by screen readers and on paper. It is a list of sections (package section).
// Scripts sort tables and draw with Apache ECharts (assets/, committed and licensed as
// assets/LICENSES.txt says).
package report

//go:generate go run ./schemagen -o ../../docs/report.schema.json
