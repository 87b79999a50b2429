// Package reexecution turns a recorded run into the calls that are issued again by `cairn replay`, and says whether two
// runs make the same ones.
//
// What goes in: a trace. What comes out, thread by thread and in constant memory for each outstanding request: calls in a
// form that does not depend on the order in which messages happened to arrive (Each), the same as a stream of words for
// the program in replayer/ (Encoder), what cannot be executed again (Refusals), and the first calls in which two traces
// differ (Compare).
//
// The canonical form of a run (ScalaTrace II, Wu and Mueller, ICS 2013, §3.5, replays what was recorded as histograms; here
// every status is in the trace, so matching is exact; Pilgrim, SC 2021, §3.3, says what a replay needs of arguments):
//
//   - MPI_ANY_SOURCE and MPI_ANY_TAG are what the status says, also of nonblocking receives, whose status comes with their
//     completion (lookahead.go). A persistent receive with wildcards is an MPI_Irecv at each start.
//   - Calls that ask and find nothing are left out. One that finds something is the one that waits for it: MPI_Test is
//     MPI_Wait, MPI_Testall MPI_Waitall, MPI_Iprobe MPI_Probe, MPI_Improbe MPI_Mprobe, MPI_Win_test MPI_Win_wait.
//   - MPI_Waitany and MPI_Testany are an MPI_Wait for the request that was completed, MPI_Waitsome and MPI_Testsome an
//     MPI_Waitall for those that were.
//   - Calls that failed are left out, but for those that received a message that was too long.
//   - Calls that a callback made are left out: callbacks are stand-ins that do nothing.
//   - Clock readings, addresses, the tool interface, conversions of handles, error classes and codes of the program's own
//     are left out: no other process learns of them.
package reexecution
