// Package phases finds what a program does one after the other ("initialization, 250 iterations of 7 calls, end") and
// how that changes while it runs.
//
// In go a trace and its clocks; out come Findings: the phases with time, computation, MPI, waiting and POP efficiencies
// (co-design.pop-coe.eu, as in package criticalpath), ranks that drift, iterations that stand out, and the efficiencies
// of equal parts of the run (Window).
//
// # Finding phases
//
// Loops are read off the grammar, not the calls (plan.go, roots.go): Sequitur writes what repeats as a rule with an
// exponent, so a large power near the root is a loop, and its exponent the trip count. A loop is extended by what lies
// beside it as long as that comes from the same call sites (a loop's rule often begins in the middle of its body), and
// loops of the same call sites next to each other are one. The loops of different ranks are aligned by their call
// sites and trip counts, in order. What lies between loops is a phase too.
//
// An iteration ends with the loop's anchor: a call that comes once per iteration on as many ranks as possible,
// preferably a collective. Ranks that never make that call, as those at the edges of a grid, have an anchor of their own.
//
// # Judging
//
// One pass over the calls (Tracker), ranks in parallel, gives each rank's time in MPI and outside by phase and
// iteration; of long loops, neighboring iterations are added up, so that a rank never keeps more than 256 samples. A
// rank drifts when its computation per iteration has a trend by the Mann–Kendall test (p < 0.001 divided by the number
// of ranks) and the slope of Theil and Sen, the median of the slopes of all pairs, makes it change by at least 5 % over
// the loop: neither is moved by some disturbed iterations. An iteration stands out that takes half as long again as the
// median and is eight robust standard deviations (1.4826 MAD) above it.
package phases
