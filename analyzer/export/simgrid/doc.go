// Package simgrid writes a trace as SimGrid's time-independent traces, which smpirun -replay runs
// on a simulated network.
//
// The input is a trace and a network. The output is a folder: a file of actions per rank (N.ti),
// the list of these files (traces.txt), a platform with the trace's hosts (platform.xml) and the
// host of each rank (hostfile). The method is that of Desprez, Markomanolis, Quinson and Suter,
// "Assessing the performance of MPI applications through time-independent trace replay" (PSTI
// 2011); the actions are those of SimGrid 3.32 (src/smpi/internals/smpi_replay.cpp).
//
// # What becomes of a call
//
//   - Computation (package activity) is "compute", in nanoseconds: a host makes 10⁹ flops per
//     second. What is neither computation nor MPI (tracing off, tracer overhead), file operations,
//     and a rank's later start are "sleep".
//   - Messages are known from matching (package match). A receive has the actual source, tag and
//     size, whatever its wildcards. A wait is in the call that found the message complete, whatever
//     other requests that call would have accepted. Unsuccessful polls and the time between them
//     are no actions: they are waiting.
//   - SimGrid has one communicator. Messages of MPI_COMM_WORLD keep their tags, those of others get
//     unique tags.
//   - Blocking collectives of all ranks are SimGrid's, with their sizes. Those of other
//     communicators and nonblocking ones are written as messages: barriers and all-to-all
//     operations by dissemination, rooted ones by a binomial tree, scans as a chain; nonblocking
//     ones from each participant to each that needs its data, when they are posted.
//   - MPI_Init, MPI_Finalize, and other operations that may synchronize are barriers if nobody left
//     before all had entered.
//   - The synchronization of one-sided communication, and partitions, are messages whose sender
//     does not wait.
//
// What SimGrid cannot express is left out, counted and named (Summary.LeftOut): data of
// one-sided communication, calls of threads other than the first of each rank, neighborhood
// collectives, collectives of intercommunicators, operations without a partner. Memory grows
// with the messages of the trace.
package simgrid
