// Package polling says whether a rank that asks for completion again and again waits or computes.
//
// In go the calls of one location, in order; out comes for each the kind of poll that it is (Poll), and since when the
// location has been polling (Attempt). Polls that follow each other within MaxGap belong together. Of longer gaps the counts
// decide that the operating system keeps (Gaps): docs/analysis.md has the rule.
package polling
