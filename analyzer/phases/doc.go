// Package phases finds the sequence of phases of a program ("initialization, 250 iterations of 7
// calls, end") and how they change during the run.
//
// Its input is a trace and its clocks. Its Findings are the phases with time, computation, MPI,
// waiting and POP efficiencies (co-design.pop-coe.eu, as in package efficiency), ranks that
// drift, iterations that stand out, and the efficiencies of equal parts of the run (Window).
//
// # Finding phases
//
// Loops are found in the grammar, not in the calls (plan.go, roots.go): Sequitur writes repetitions
// as a rule with an exponent, so a large power near the root is a loop, and its exponent the trip
// count. A loop is extended by adjacent calls as long as these come from the same call sites (a
// loop's rule often begins in the middle of its body). Adjacent loops with the same call sites are
// merged. The loops of different ranks are aligned by their call sites and trip counts, in order.
// What lies between loops is a phase, too.
//
// An iteration ends with the loop's anchor: a call that occurs once per iteration on as many ranks
// as possible, preferably a collective. Ranks that never make that call, such as those at the edges
// of a grid, have their own anchor.
//
// # Statistics
//
// One pass over the calls (Tracker), ranks in parallel, measures each rank's time in MPI and
// outside by phase and iteration. For long loops adjacent iterations are added up, so that a rank
// has at most 256 samples. A rank drifts if its computation per iteration has a trend by the
// Mann–Kendall test (p < 0.001 divided by the number of ranks) and changes by at least 5 % over the
// loop, by the slope of Theil and Sen (the median of the slopes of all pairs). Both are robust
// against some disturbed iterations. An iteration stands out if it takes at least 1.5 times the
// median and is eight robust standard deviations (1.4826 MAD) above it.
package phases
