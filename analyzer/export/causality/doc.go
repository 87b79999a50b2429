// Package causality moves the times of calls so that effects come after their causes.
//
// Its input is the calls of a trace as matched by package match: a Finder is a match.Watcher. Its
// output is a Correction with the times of all enters and exits, for timelines that other tools
// will read. These tools assume that
//
//   - no receive ends before its send began;
//   - no rank leaves an operation of all with all (a barrier, MPI_Allreduce) before all have
//     entered it, a broadcast before its root has entered, the root of a reduction before all have,
//     or a prefix operation before the ranks before it;
//   - no access epoch ends before the target began its exposure, and no exposure before its
//     accesses have ended.
//
// Rounded times (lossy timing) and remaining errors of the nodes' clocks violate these rules by
// microseconds. The method is the forward amortization of the controlled logical clock (Becker,
// Rabenseifner, Wolf and Linford, "Scalable timestamp synchronization for event traces of
// message-passing applications", Parallel Computing 35, 2009, §4): an exit that is too early is
// moved to Latency after its cause. Later events of the thread are moved along, by timeline.Decay
// less for every nanosecond that passes. Order and sign of a thread's own intervals do not change.
// A step is always inside of a call that waits. So backward amortization, which would smooth it, is
// omitted, as in package clock: no computation gets longer by more than Decay.
//
// Memory grows with the calls whose order is not known yet (those that wait for pending
// operations), and by a few bytes per repair.
package causality
