// Package program shows a whole job as one short program text: loops with trip counts, calls with their parameters, and
// the ranks beside what not all ranks do.
//
// In goes a trace, out come Findings, which are also the text (Text). It is ScalaTrace II's trace file made readable
// (Wu and Mueller, "Elastic and scalable tracing and accurate replay of non-deterministic events", ICS '13), got from
// Pilgrim's grammar instead of by searching the calls:
//
//   - a rule is the list of its symbols, those that stand once in place of their rule, powers as loops (build.go);
//   - the body of each loop and the root are folded (fold.go, partial.go): loops that Sequitur has begun in the middle
//     of an iteration are turned to begin where the program's do; repetitions that differ only in trip counts become one
//     loop around trip counts that vary (§3.2.2, Figure 2); and repetitions that begin and end with the same calls, but
//     differ between, become one loop whose calls come in some iterations only, aligned by their longest common
//     subsequence (§3.2.1, Figure 1). What varies is a trip count in each case, 0 or 1 for a call, as the paper has it:
//     "E2 (1, 1 0)";
//   - the programs of ranks that differ are laid over one another level by level, again by longest common subsequences,
//     where calls match by function and call site and loops by what is in them, whatever their trip counts (§3.4,
//     Figure 4; merge.go).
//
// Loops that are equal but for arguments and trip counts are one where they follow each other (similar.go). Arguments of
// chance can keep a grammar from finding the loops at all; then the sequence of functions and call sites is folded by
// itself, and given its arguments afterwards (skeleton.go; up to 65,536 calls of a rank).
//
// Ranks are one program if they make the same calls at the same call sites in the same loops, whatever arguments and trip
// counts, and as far as they have the neighbors (programs.go, "Logicalization of MPI communication traces", §4.3). An
// argument is then a parameter of the program: a function of the rank (constant, rank+1, around the ring or a grid, XOR,
// multiples and quotients, transposed; rankfunction.go) or of a coordinate in a grid or in the topology (function.go), a
// few such functions with their ranks, or "differs by rank" with the range and how many values there are (grouping.go).
// "rank" is that in the communicator of the call (communicators.go). At least three ranks must agree with a function that
// is neither a constant nor a distance.
//
// With Options.Exact nothing is left out: Parameter.Exact has each argument of each call, as ScalaTrace II's elastic data
// elements do (§3.1: <value vector, ranklist>), as functions, tables by rank, cycles and streams (term.go, exact.go,
// streams.go), and the text refers to tables at its end for what is too long for a line (tables.go). Results (statuses,
// requests, what a test has found) are worded only.
//
// A grammar that would be too long in one piece keeps its rules, as parts that the text names.
package program
