// Package causality moves the times of calls so that effects come after their causes.
//
// In go the calls of a trace as package match follows them: a Finder is its Watcher. Out comes a Correction, which gives
// the time of every enter and exit for a time line that other tools will read. They take it for granted that
//
//   - no receive ends before its send began;
//   - nobody leaves an operation of all with all (a barrier, MPI_Allreduce) before all have entered it, a broadcast
//     before its root has entered, the root of a reduction before all have, a prefix operation before those before it;
//   - nobody ends an access epoch before the target began its exposure, nor an exposure before its accesses have ended.
//
// Rounded times (lossy timing) and what is left of the errors of nodes' clocks break these rules by microseconds. The
// method is the forward amortization of the controlled logical clock (Becker, Rabenseifner, Wolf and Linford, "Scalable
// timestamp synchronization for event traces of message-passing applications", Parallel Computing 35, 2009, §4): an exit
// that is too early is moved to Latency after its cause, and what the thread does afterwards moves along, by
// timeline.Decay less for every nanosecond that passes. Order and sign of a thread's own intervals stay as they are. A
// step always falls into a call that waits, so backward amortization, which would smooth it, is left out, as in package
// clock: no computation gets longer by more than Decay.
//
// Memory: the calls whose order is not known yet, which are those that wait for pending operations, and a few bytes for
// each repair.
package causality
