// Package traffic says which rank sent how much to which by point-to-point calls: the communication matrix.
//
// In goes a trace, or a trace of histograms; out come pairs of ranks with their messages and bytes. Matrix is computed on the
// distinct calls of each thread (trace.DistinctCalls), so its time does not grow with the number of calls where these are
// alike. Estimate spreads what a trace of histograms has (ScalaTrace II: Wu and Mueller, ICS 2013, §2.3).
//
// Invariants:
//
//   - a message counts where it is sent: a persistent send as often as it is started, MPI_PROC_NULL never;
//   - the list is sorted by communicator, source and destination, each of them once;
//   - the matrices of two parts of a run add up to that of the whole.
package traffic
