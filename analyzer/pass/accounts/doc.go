// Package accounts says how each location spent its time, and which of it is on the critical path.
//
// In go the event log of package matching and the stretches of package route: each location's calls are read again, locations
// in parallel. Out come, for each location, sums by activity (a call at a call site, or the computation between two calls)
// with what spreads them; parts of the run; the pieces of the path; and totals of all. What threads and the operating system
// counted of the CPU is laid over the computations (offcpu.go, machine.go).
//
// Of a trace without the times of single calls (timing aggregated) the accounts are its sums (aggregated.go).
package accounts
