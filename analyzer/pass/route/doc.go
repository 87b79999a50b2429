// Package route finds the critical path of a run, and how far from it other ranks are.
//
// The critical path (Schulz, "Extracting critical path graphs from MPI applications", CLUSTER 2005; Böhme et al.,
// "Scalable critical-path based performance analysis", IPDPS 2012) starts at the last rank to leave and is walked
// backward: on a rank until the end of a wait state, there over to the rank that was waited for, and on. Waiting is
// never on it. Its length is the run time T, from the first entry into MPI_Init to the last exit from MPI_Finalize,
// since every moment of the run belongs to exactly one rank of the path.
//
// The walk goes over the wait states alone. What comes out are stretches of time on locations, which package accounts lays
// over calls and computation.
package route
