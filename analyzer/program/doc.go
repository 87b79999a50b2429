// Package program shows a whole job as one short program text: loops with trip counts, calls with
// their parameters, and the ranks of everything that not all ranks do.
//
// The input is a trace, the output Findings, which can be printed (Text). It is ScalaTrace II's
// trace file made readable (Wu and Mueller, "Elastic and scalable tracing and accurate replay of
// non-deterministic events", ICS '13), derived from Pilgrim's grammar instead of by searching the
// calls:
//
//   - a rule is the list of its symbols: rules that occur once are replaced by their content, and
//     powers are loops (build.go);
//   - the body of each loop and the root are folded (fold.go, partial.go). Loops that Sequitur has
//     begun in the middle of an iteration are turned to begin where the program's do. Repetitions
//     that differ only in trip counts become one loop around varying trip counts (§3.2.2, Figure
//     2). Repetitions that begin and end with the same calls, but differ in between, become one
//     loop whose calls occur in some iterations only, aligned by their longest common subsequence
//     (§3.2.1, Figure 1). In each case a trip count varies, 0 or 1 for a call, as in the paper: "E2
//     (1, 1 0)";
//   - the programs of ranks that differ are aligned level by level, again by longest common
//     subsequences. Calls match by function and call site, and loops by their content, whatever
//     their trip counts (§3.4, Figure 4; merge.go).
//
// Adjacent loops that are equal except for arguments and trip counts are joined (similar.go).
// Random arguments can prevent a grammar from finding any loops; then the sequence of functions and
// call sites is folded without arguments, which are added later (skeleton.go; up to 65,536 calls of
// a rank).
//
// Ranks are one program if they make the same calls at the same call sites in the same loops,
// whatever arguments and trip counts, except for calls to neighbors that they lack (programs.go,
// "Logicalization of MPI communication traces", §4.3). An argument is then a parameter of the
// program:
//
//   - a function of the rank (constant, rank+1, around the ring or a grid, XOR, multiples and
//     quotients, transposed; rankfunction.go) or of a coordinate in a grid or in the topology
//     (function.go);
//   - a few such functions with their ranks;
//   - or "differs by rank" with the range and the number of values (grouping.go).
//
// "rank" is that in the communicator of the call (communicators.go). A function that is neither a
// constant nor a distance must describe at least three ranks.
//
// With Options.Exact nothing is omitted: Parameter.Exact has each argument of each call, like
// ScalaTrace II's elastic data elements (§3.1: <value vector, ranklist>), as functions, tables by
// rank, cycles and streams (term.go, exact.go, streams.go), and the text refers to tables at its
// end for what is too long for a line (tables.go). Results (statuses, requests, outcomes of tests)
// are only described in words.
//
// A grammar that would be too long in one piece keeps its rules, as parts with names.
package program
