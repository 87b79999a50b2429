// Package analyzer turns one trace into findings, and findings into a report.
//
// Its input is a trace.Reader. It returns the findings of each analysis as JSON
// (findings/<name>.json) and, assembled from these and the trace, report/report.json,
// report/summary.txt and report/index.html. analyses.Sets lists the analyses; what they share is in
// the packages below analyzer/pass. The analyzer does not depend on how a trace was merged.
package analyzer
