// Package report turns findings into what a person opens.
//
// In go the trace's own data and the findings of the other analyses; out come report.json, versioned and described by
// docs/report.schema.json, and index.html, one page that needs nothing but itself: no network, no server, from a bucket
// or from disk. The verdict comes first, then what to do next, then what it is based on.
//
// The page is made on the server's side as far as possible (html/template), so that it can be read without scripts, by
// screen readers and on paper; scripts sort tables and draw the time line with Apache ECharts (assets/, committed and
// licensed as assets/LICENSES.txt says).
package report
