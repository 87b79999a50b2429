// Package eventlog stores the result of a matching pass, so that later passes need not match again.
//
// Its input is the events of a match.Watcher for all calls, in order of time or section by section
// (Recorder). Its result is a Log: for each location its calls with their times and with the other
// calls and collective operations that each call depends on, that is, that it could not end before.
// Replay, root causes and accounts read the log location by location, in slabs. So the data of one
// location stays in the CPU cache while its calls of a slab are processed, which is not the case in
// order of time.
//
// A call takes about 8 bytes: numbers of variable length, relative to the previous ones. Data
// beyond the memory limit of the Spool goes to a temporary file, compressed to 1 to 4 bytes per
// call. Memory grows with ranks and pending operations, not with calls.
//
// # Streams
//
// Each location has three streams, because their contents become known at different times:
//
//   - calls, in order: function and call site, times, collectives that are entered
//   - completions, in the order of calls, when all dependencies of the call are known
//     (match.Handler.Settled)
//   - posts: for each call that others may depend on, the number of dependents. A replay keeps the
//     times of the call until all of them are processed.
//
// Slabs end with an end marker in the stream of calls. The calls of a slab were made at about the
// same time.
package eventlog
