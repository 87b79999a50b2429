// Package simgrid writes a trace as SimGrid's time-independent traces, which smpirun -replay runs on a simulated network.
//
// In go a trace and a network; out comes a folder: a file of actions per rank (N.ti), the list of these files (traces.txt),
// a platform with the trace's hosts (platform.xml) and which rank runs where (hostfile). The method is that of Desprez,
// Markomanolis, Quinson and Suter, "Assessing the performance of MPI applications through time-independent trace replay"
// (PSTI 2011); the actions are those of SimGrid 3.32 (src/smpi/internals/smpi_replay.cpp).
//
// # What becomes of a call
//
//   - Computation (package activity) is "compute", in nanoseconds: a host makes 10⁹ flops a second. What is neither
//     computation nor MPI (tracing off, the tracer itself), file operations, and a rank's later start are "sleep".
//   - A message is known from matching (package match): its receive has the source, tag and size that came, whatever
//     wildcards it had, and a wait stands in the call that found the message complete, whatever other requests that call
//     would have taken. Polls in vain and the time between them are no actions: they are waiting.
//   - SimGrid knows one communicator. Messages of MPI_COMM_WORLD keep their tags, those of others get tags of their own.
//   - Blocking collectives of all ranks are SimGrid's, with their sizes. Those of other communicators and non-blocking ones
//     are written as messages: barriers and all-to-all operations by dissemination, rooted ones by a binomial tree, scans as
//     a chain; non-blocking ones from each participant to each that needs its data, when they are posted.
//   - MPI_Init, MPI_Finalize, and what else may but need not synchronize are barriers where nobody left before all had come.
//   - The synchronization of one-sided communication, and partitions, are messages without a wait of their sender.
//
// What cannot be said is left out, counted and named (Summary.LeftOut): data of one-sided communication, calls of threads
// other than a rank's first, neighborhood collectives, collectives of intercommunicators, operations without a partner.
// Memory grows with the messages of the trace.
package simgrid
