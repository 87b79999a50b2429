// Package causes determines why a run took as long as it did.
//
// Its input is the accounts of all locations, the wait states, the profile and the CPU
// measurements. They suggest hypotheses: ranks that compute longer than the others (standing.go has
// the test, excess.go the hypotheses), work that one rank does alone (alone.go) or that is divided
// unequally (unequal.go, even.go), calls and their surroundings (calls.go, cpus.go). Each
// hypothesis is a change of the run (change.go). A replay of the event log (package predict)
// predicts the duration of the changed run: all hypotheses in one pass, and in further passes those
// that remain given the causes found so far (hypotheses.go). The hypothesis that gains most is a
// cause.
//
// Its results are the hypotheses with those durations, the causes among them, and the text of the
// verdict (verdict.go). docs/verdict.md describes the rules.
package causes
