// Package polling determines whether a rank that tests for completion again and again waits or
// computes.
//
// Its input is the calls of one location, in order. It returns the kind of poll of each call
// (Poll), and since when the location has been polling (Attempt). Polls at most MaxGap apart belong
// together. For longer gaps the counters of the operating system decide (Gaps); docs/analysis.md
// describes the rule.
package polling
