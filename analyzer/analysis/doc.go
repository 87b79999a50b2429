// Package analysis defines an analysis: a pass whose result is stored in files and shown in the
// report.
//
// An analysis is in its own folder, analyzer/analyses/<name>: the computation, the type of its
// findings, and its section of the report (template, view, script). A line in
// analyzer/analyses/list.go registers it.
//
// Findings are a struct. Its keys are at the top level of report.json, together with those of the
// other analyses; a test checks that they are unique. A key "notes", a list of sentences, is joined
// with that of the others.
package analysis
