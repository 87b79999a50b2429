// Package causes finds out why a run took as long as it did.
//
// In go the accounts of all locations, the wait states, the profile and what ranks had of the CPUs. They make hypotheses
// likely: who computes longer than the others (standing.go has the rule, excess.go what follows), work that one rank has alone
// (alone.go) or that is divided unequally (unequal.go, even.go), calls and what surrounds them (calls.go, cpus.go). Each says
// what would be otherwise without it (change.go). A replay of the event log (package predict) says how long the run would take
// then: all in one pass, and what comes next given those before in another (hypotheses.go). What gains most is a cause.
//
// Out come the hypotheses with those lengths, the causes among them, and the verdict's words (verdict.go). docs/verdict.md has
// the rules in prose.
package causes
