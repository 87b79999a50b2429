// Package accounts computes how each location spent its time, and the part of it that is on the
// critical path.
//
// Its input is the event log of package matching and the stretches of package route. It reads each
// location's calls again, in parallel. For each location it returns
//
//   - sums by activity (a call at a call site, or the computation between two calls) with their
//     distribution,
//   - sums by parts of the run,
//   - the pieces of the critical path,
//
// and the totals of all locations. CPU measurements of threads and of the operating system are
// assigned to the computations (offcpu.go, machine.go).
//
// For a trace without the times of single calls (timing aggregated) the accounts are made from its
// sums (aggregated.go).
package accounts
