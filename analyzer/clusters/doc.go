// Package clusters groups ranks that behave alike, each group with a lead rank.
//
// The input is a trace, the output Findings. There are three levels of similarity, each within the
// one before:
//
//   - the call path: the sequence of distinct (call site, function) in order of first use, which is
//     Chameleon's call-path signature (Bahmani and Mueller, "Chameleon: online clustering of MPI
//     program traces", IPDPS 2018, §III) kept as a sequence instead of 64 bits. It determines which
//     part of the program a rank executes, whatever its loop counts. These are the clusters;
//   - the sequence of (call site, function) of all calls: equal trip counts, too;
//   - the sequence of signatures: equal arguments, too. In final traces peers are relative to the
//     rank, so that all inner ranks of a stencil are equal.
//
// Within the clusters, ranks are divided by their peers (Chameleon's SRC and DEST signatures, §III,
// features.go) and by computation, MPI and waiting time, with k-medoids or k-farthest (medoids.go).
// k is given, or the smallest one for which the silhouette indicates a strong structure. Each group
// has a lead; ranks far from theirs are reported. The same is done in each phase separately
// (perphase.go): a rank may differ from the others in one loop only.
//
// The equality of calls can be relaxed (likeness.go): parameters that do not matter (Chameleon's
// filter), call paths that differ in some frames (ScalaTrace II §3.3).
//
// Except for the phases' times, everything is computed on the grammar without expanding it. A
// sequence is identified by a polynomial hash; that of a rule is computed from those of its parts
// (hash.go), and a rule that was visited before adds nothing to the distinct calls. The cost grows
// with the rules, not with the calls.
package clusters
