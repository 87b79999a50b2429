// Package causes determines why a run took as long as it did.
//
// Its input is the evidence (evidence.go): the accounts of all locations, the wait states, the
// profile and the CPU measurements. Each kind of cause is one type in a file of its own. From the
// evidence it suggests hypotheses (hypothesis.go has the list of kinds), and each hypothesis is a
// change of the run (change.go). A replay of the event log (package predict) predicts the duration
// of the changed run: all hypotheses in one pass, and in further passes those that remain given the
// causes found so far (judge.go). The hypothesis that gains most is a cause. All thresholds are in
// thresholds.go.
//
// Its results are the hypotheses with those durations, the causes among them, and the text of the
// verdict (verdict.go). docs/verdict.md describes the rules.
package causes
