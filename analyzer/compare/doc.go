// Package compare says what became slower from one run of a program to another.
//
// In go runs before, side A, and after, side B; out come Findings: the difference of the run times,
// what makes it on the critical path, and the ranks whose iterations changed.
//
// # What counts as a difference
//
// Equal runs of a program take different times, on a busy machine often by several per cent. How far
// apart they are cannot be known from one run.
//
//   - One run a side. A sample is one iteration of a loop (package phases) on one rank: its
//     computation and its time in MPI. The samples of A and B are compared by the rank-sum test of
//     Mann and Whitney (Annals of Mathematical Statistics 18, 1947), not by a t-test: times of
//     iterations are skewed and some are disturbed by a multiple of their length, which moves a mean
//     as it pleases, but a rank-sum by no more than one place. The p-value is multiplied by the number
//     of tests (Bonferroni), and must then be below 0.001. That says that iterations differ by more
//     than they scatter within both runs, and no more than that.
//   - Several runs a side, at least two. A sample is one run. Run times, and each rank's mean
//     iteration of each loop, are compared by Welch's t-test (Biometrika 34, 1947). The former is
//     below 0.025; the latter too, times the number of tests: so that equal runs are said to differ,
//     in the one way or the other, in 5 % of cases at most. A rank's computation is tested twice: as
//     it is, and divided by the median over the ranks of its run, if there are at least three. What
//     makes a whole run slower cancels out there, and a rank that became slower alone is seen beneath
//     it.
//
// In both cases a shift, the median of all differences (Hodges and Lehmann 1963) or the difference of
// the means, is at least 2 % of A's iteration, MPI included, and larger than what rounded times may be
// wrong by on both sides together. With lossy timing of error e an interval is wrong by up to e of
// itself; the median of one run's iterations too, since all of them may fall into one bin. A mean is
// better: moments, the sums of intervals, stay within e of the longest interval of late, so that what
// computation is wrong by is made good by the rest of the iterations, and is no more than e of that
// rest. The variance of a side is at least that of a uniform distribution over this error: equal
// values of rounded times do not show that runs do not differ.
//
// # Causes
//
// A rank that waits longer is seldom the cause. The critical path (package criticalpath) never waits
// and is as long as the run: the difference of the run times is the difference of its parts. They
// are compared by call site; of computation by the call after it or, where that leaves less than half
// to explain, the call before it.
//
// # One program
//
// Runs are of one program if at least half of each one's time is at places that the other one has
// too. A place is known by the function of MPI and the file or function that it is in, so that a
// program whose lines moved stays the same. Where they did, call sites are matched by function. Runs
// of different programs are not compared but for their times. Loops are the same by the words of
// their call sites, or else by these without lines and by their order; ranks by their number.
package compare
