// Package verdict contains the texts in which Cairn explains why a job is slow: causes, and the
// sentence and the advice for each.
//
// Its input is the causes that the analysis found, each with ranks, location, time and the gain
// predicted by the replay. Its output is the first sentence of a report and what to do next. It
// does not read traces. Package causes (analyzer/pass/causes) finds the causes; docs/verdict.md
// describes the rules.
//
// Each kind of cause has one file with its sentence, its short name and its advice (excess.go,
// imbalance.go, …). The table of kinds is in kinds.go. What sentences have in common is in
// sentence.go.
package verdict
