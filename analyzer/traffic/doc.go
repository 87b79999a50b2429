// Package traffic computes the communication matrix: how much each rank sent to each other by
// point-to-point calls.
//
// Its input is a trace, or a trace of histograms; its output is pairs of ranks with their messages
// and bytes. Matrix is computed on the distinct calls of each thread (trace.DistinctCalls), so that
// its time does not grow with the number of equal calls. Estimate distributes the traffic of a
// trace of histograms (ScalaTrace II: Wu and Mueller, ICS 2013, §2.3).
//
// Invariants:
//
//   - A message counts at its sender: a persistent send as often as it is started, MPI_PROC_NULL
//     never.
//   - The list is sorted by communicator, source and destination, without duplicates.
//   - The matrices of two parts of a run add up to that of the whole.
package traffic
