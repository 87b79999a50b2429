// Package compare reports what became slower from one run of a program to another.
//
// The input is runs before a change, side A, and after it, side B. The output is Findings: the
// difference of the run times, its parts on the critical path, and the ranks whose iterations
// changed.
//
// # What counts as a difference
//
// Equal runs of a program take different times, on a busy machine often by several per cent. How
// much they vary cannot be known from one run.
//
//   - One run per side. A sample is one iteration of a loop (package phases) on one rank: its
//     computation and its time in MPI. The samples of A and B are compared by the rank-sum test of
//     Mann and Whitney (Annals of Mathematical Statistics 18, 1947), not by a t-test: times of
//     iterations are skewed, and some are disturbed by a multiple of their length, which has a
//     large effect on a mean but moves a rank-sum by at most one place. The p-value is multiplied
//     by the number of tests (Bonferroni), and must then be below 0.001. This only shows that
//     iterations differ by more than they vary within both runs.
//   - Several runs per side, at least two. A sample is one run. Run times, and each rank's mean
//     iteration of each loop, are compared by Welch's t-test (Biometrika 34, 1947). The p-value of
//     the former must be below 0.025, and so must that of the latter, multiplied by the number of
//     tests. So equal runs are reported as different, in one way or the other, in 5 % of cases at
//     most. A rank's computation is tested twice: as it is, and, if there are at least three ranks,
//     divided by the median over the ranks of its run. What makes a whole run slower cancels out
//     there, and a rank that became slower alone is visible nevertheless.
//
// In both cases there is a minimum shift. The shift is the median of all differences (Hodges and
// Lehmann 1963) or the difference of the means. It must be at least 2 % of A's iteration, including
// MPI, and larger than the sum of the rounding errors of both sides. With lossy timing of error e,
// an interval has a relative error of up to e. So has the median of one run's iterations, since all
// of them may fall into one bin. A mean is more accurate: moments, the sums of intervals, stay
// within e of the longest recent interval, so errors of computation are compensated by the rest of
// the iterations, and are at most e of that rest. The variance of a side is at least that of a
// uniform distribution over this error: equal values of rounded times do not show that runs do not
// differ.
//
// # Causes
//
// A rank that waits longer is rarely the cause. The critical path (package route) never
// waits and is as long as the run: the difference of the run times is the difference of its parts.
// They are compared by call site. Computation is compared by the call after it, or, if that
// explains less than half, by the call before it.
//
// # One program
//
// Runs are of one program if at least half of each one's time is at call sites that the other one
// has, too. A call site is identified by the MPI function and the file or function that contains
// it, so that a program whose lines moved is still the same. If lines moved, call sites are matched
// by function. If programs differ only the run times are compared. Loops are matched by the
// description of their call sites, or by that without lines and by their order; ranks are matched
// by number.
package compare
