// Package analysis says what an analysis is: a pass whose result is kept in files and shown to people.
//
// An analysis lives in a folder of its own, analyzer/analyses/<name>: what it computes, the type of its findings, and its
// section of the report (template, view, script). One line in analyzer/analyses/list.go makes it one of those that run.
//
// Findings are a struct. Its keys stand at the top of report.json, beside those of the other analyses; a test checks that
// no two have the same one. A key "notes", a list of sentences, is joined with that of the others.
package analysis
