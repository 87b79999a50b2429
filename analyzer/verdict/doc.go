// Package verdict has the words in which Cairn says why a job is slow: causes, and the sentence and the advice for each.
//
// What goes in: causes that the analysis found, each with who, where, when and the gain that the replay promises. What
// comes out: the first sentence of a report and what to do next. Nothing here looks at a trace; how causes are found is
// package criticalpath's, and docs/verdict.md has the rules in prose.
package verdict
