// Package analyzer computes findings from a trace, and a report from findings.
//
// The input is a trace.Reader. The output are the findings of each analysis as JSON
// (findings/<name>.json) and, made from these and the trace, report/report.json, report/summary.txt
// and report/index.html. analyses.Sets lists the analyses. Passes that they share are below
// analyzer/pass; methods with several users are packages of their own next to it (see package
// analyses). The package does not depend on how a trace was merged.
package analyzer
