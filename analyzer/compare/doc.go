// Package compare says what became slower from one run of a program to another.
//
// In go two traces, A before and B after; out come Findings: the difference of the run times, split into computation and
// MPI by place in the program, and the phases, ranks in phases, whose iterations differ significantly.
//
// # Significance
//
// A sample is one iteration of a loop (package phases) on one rank: its computation and its time in MPI. The samples of
// A and B are compared by the rank-sum test of Mann and Whitney (Annals of Mathematical Statistics 18, 1947; normal
// approximation, with the correction for ties), not by Welch's t-test: times of iterations are skewed and some are
// disturbed by a multiple of their length, which moves a mean and widens its error as it pleases, but a rank-sum by no
// more than one place. The p-value is multiplied by the number of tests made (Bonferroni), and must then be below 0.001;
// and the shift, the median of all differences (Hodges and Lehmann 1963), must be at least 2 % of A's median iteration.
// The test takes iterations as independent; where slow and fast times last for many iterations, as on a shared machine,
// it is too sure. Two runs cannot tell a change of the program from one of the machine: the more runs agree, the better.
//
// Loops are the same by their call sites' words (file and line, or function), ranks by their number.
package compare
