// Package activity says what a thread does with its time: computation, MPI calls, waiting between polls, what tracing did
// not see, and the tracer itself. It is the one definition that the report, the phases and the comparison of runs share.
//
// What goes in: the calls of one thread in order, each with the kind of poll that it is (polling.Gaps). What comes out:
// for each call a Step, whose spans follow each other without gaps, from the end of the call before to the end of this one.
//
// The rules:
//   - What counts is from the entry into MPI_Init to the exit from MPI_Finalize: of a thread that calls neither, from its
//     first call to its last one.
//   - Between two calls the tracer comes first, for as long as it is known to have held the thread.
//   - What is left is waiting if the thread polls: both calls ask for completion, the first in vain, and the thread was
//     idle in between (polling.Gaps). Calls that only ask what the process knows do not interrupt that.
//   - It is untraced if tracing was off for some of it.
//   - It is computation otherwise.
//   - A call is MPI from its entry to its exit. A call that a callback of another makes is part of that one.
package activity
