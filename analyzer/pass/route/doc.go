// Package route finds the critical path of a run, and the distance (slack) of other ranks from it.
//
// The critical path (Schulz, "Extracting critical path graphs from MPI applications", CLUSTER 2005;
// Böhme et al., "Scalable critical-path based performance analysis", IPDPS 2012) is found backward,
// beginning at the last rank to leave. It stays on a rank until it meets the end of a wait state,
// where it continues on the rank that was waited for. Waiting is never on the path. Its length is
// the run time T, from the first entry into MPI_Init to the last exit from MPI_Finalize, because at
// any time of the run it is on exactly one rank.
//
// The walk needs the wait states only. Its result is stretches of time on locations, which package
// accounts intersects with calls and computation.
package route
