// Package analyzer turns one trace into findings and findings into a report.
//
// In goes a trace.Reader; out come the findings of each analysis as JSON (findings/<name>.json) and, assembled from these and
// the trace, report/report.json, report/summary.txt and report/index.html. Which analyses there are, analyses.Sets says; what
// they share is in the packages below analyzer/pass, and methods that have several users are packages of their own beside
// them (package analyses has the rule). How a trace was merged is none of its business.
package analyzer
