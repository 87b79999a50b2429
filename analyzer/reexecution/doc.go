// Package reexecution converts a recorded run to the calls that `cairn replay` makes, and reports
// whether two runs make the same ones.
//
// Its input is a trace. Its output is, thread by thread and in constant memory per outstanding
// request:
//
//   - calls in a form that does not depend on the order in which messages happened to arrive
//     (Each);
//   - the same as a stream of words for the program in replayer/ (Encoder);
//   - what cannot be replayed (Refusals);
//   - the first calls in which two traces differ (Compare).
//
// The canonical form of a run (ScalaTrace II, Wu and Mueller, ICS 2013, §3.5, replays what was
// recorded as histograms; here every status is in the trace, so matching is exact; Pilgrim, SC
// 2021, §3.3, describes what a replay needs of arguments):
//
//   - MPI_ANY_SOURCE and MPI_ANY_TAG are replaced by the values of the status, also in nonblocking
//     receives, whose status comes with their completion (lookahead.go). A persistent receive with
//     wildcards is an MPI_Irecv at each start.
//   - Unsuccessful polls are left out. A successful one becomes a call that waits: MPI_Test is
//     MPI_Wait, MPI_Testall MPI_Waitall, MPI_Iprobe MPI_Probe, MPI_Improbe MPI_Mprobe, MPI_Win_test
//     MPI_Win_wait.
//   - MPI_Waitany and MPI_Testany are an MPI_Wait for the request that was completed, MPI_Waitsome
//     and MPI_Testsome an MPI_Waitall for those that were.
//   - Calls that failed are left out, except for those that received a message that was too long.
//   - Calls made by a callback are left out: the replayed callbacks do nothing.
//   - Clock readings, addresses, the tool interface, conversions of handles, and the program's own
//     error classes and codes are left out: they do not affect other processes.
package reexecution
