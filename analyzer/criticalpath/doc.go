// Package criticalpath finds the chain of activities that made a run as long as it was, and says whose fault that is.
//
// In goes a trace; out come Findings: the critical path by rank, function, call site and computation between two
// calls, the efficiencies, the wait states, and the verdict.
//
// # The path
//
// The critical path (Schulz, "Extracting critical path graphs from MPI applications", CLUSTER 2005; Böhme et al.,
// "Scalable critical-path based performance analysis", IPDPS 2012) starts at the last rank to leave and is walked
// backward: on a rank until the end of a wait state, there over to the rank that was waited for, and on. Waiting is
// never on it. Its length is the run time T, from the first entry into MPI_Init to the last exit from MPI_Finalize,
// since every moment of the run belongs to exactly one rank of the path.
//
// # The passes
//
// Forward (forward.go): all calls in time order through package match; what is kept is a few bytes for each wait
// state (waitlog.go), and the journal of calls and what they depend on (package journal), for the replay and the root
// causes. Backward (walk.go): over the wait states alone, which gives the path as
// stretches of time on ranks. Account (account.go): each rank's calls again, ranks in parallel, to lay those
// stretches over calls and computation. What a later pass
// needs of wait states, stretches and pieces is in the journal's spool: memory grows with ranks, call sites and pending
// operations, never with calls or waits.
//
// # Efficiencies
//
// POP's (co-design.pop-coe.eu), useful meaning outside MPI: load balance = mean(useful)/max(useful), communication
// efficiency = max(useful)/T, parallel efficiency = their product = mean(useful)/T.
//
// The verdict's rule is in verdict.go and docs/verdict.md.
package criticalpath
