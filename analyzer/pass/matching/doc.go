// Package matching reads all calls of a run once, in order of time, and keeps what later passes
// need.
//
// Its input is a trace with or without a clock map; without one the same pass computes it, provided
// that the clocks turn out as guessed. Its results are:
//
//   - the wait states (package waitstate), about 8 bytes each, in a spool
//   - their sums by call site and by partner
//   - what the calls of each call site complete, with its size
//   - the event log of calls and dependencies (package eventlog)
//   - the profile
//   - for each location, when its part of the run begins and ends
//   - operations without a partner
//   - quiescent points, between which parts of the run can be analyzed separately
//
// Memory grows with the number of locations, call sites and pending operations, never with the
// number of calls or waits.
package matching
