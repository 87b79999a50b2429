// Package clusters puts ranks that behave alike together, each group with a lead rank that stands for it.
//
// In goes a trace, out come Findings. Three degrees of likeness are told apart, each within the one before:
//
//   - the call path: the sequence of distinct (call site, function) in order of first sight, which is Chameleon's
//     call-path signature (Bahmani and Mueller, "Chameleon: online clustering of MPI program traces", IPDPS 2018,
//     §III) kept as a sequence instead of 64 bits. It says which part of the program a rank executes, whatever its loop
//     counts. These are the clusters;
//   - the sequence of (call site, function) of all calls: equal trip counts too;
//   - the sequence of signatures: equal arguments too. In final traces peers are relative to the rank, so that all
//     inner ranks of a stencil are equal.
//
// Everything is computed on the grammar without expanding it: a sequence is known by a polynomial hash, which for a
// rule follows from those of its parts (hash.go), and a rule met again adds nothing to the distinct calls. The cost is
// that of the rules, not of the calls.
package clusters
