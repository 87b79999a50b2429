// Package activity divides the time of a thread into computation, MPI calls, waiting between polls,
// untraced time and tracer overhead. The report, the phases and the comparison of runs share this
// definition.
//
// Its input is the calls of one thread in order, each with its kind of poll (polling.Gaps). Its
// output is a Step for each call. The spans of the steps are adjacent, from the end of the previous
// call to the end of this one.
//
// Rules:
//   - The run is from the entry into MPI_Init to the exit from MPI_Finalize; for a thread that
//     calls neither, from its first call to its last one.
//   - Between two calls the tracer overhead comes first, as far as it is known.
//   - The rest is waiting if the thread polls: both calls test for completion, the first one
//     without success, and the thread was idle in between (polling.Gaps). Calls that only query
//     local state do not interrupt a series of polls.
//   - It is untraced if tracing was off for some of it.
//   - Otherwise it is computation.
//   - A call is MPI from its entry to its exit. A call that a callback of another one makes is part
//     of that one.
package activity
