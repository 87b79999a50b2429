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
// Within the clusters, ranks are divided by whom they talk to (Chameleon's SRC and DEST signatures, §III, features.go)
// and by computation, MPI and waiting time, with k-medoids or k-farthest (medoids.go); k is given, or the smallest for
// which the silhouette says that the structure is strong. A lead stands for each group; ranks far from theirs are named.
// The same is done in each phase by itself (perphase.go): a rank may be unlike the others in one loop only.
//
// What counts as the same call can be widened (likeness.go): parameters that do not matter (Chameleon's filter), call
// paths that differ in some frames (ScalaTrace II §3.3).
//
// But for the phases' times, everything is computed on the grammar without expanding it: a sequence is known by a
// polynomial hash, which for a rule follows from those of its parts (hash.go), and a rule met again adds nothing to the
// distinct calls. The cost is that of the rules, not of the calls.
package clusters
