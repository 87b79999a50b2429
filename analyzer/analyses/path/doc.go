// Package path describes the critical path: by rank, function, call site, node and phase, its cost
// for all ranks, and the ranks that are nearly on it.
//
// The path (Schulz, "Extracting critical path graphs from MPI applications", CLUSTER 2005; Böhme et
// al., "Scalable critical-path based performance analysis", IPDPS 2012) is found by package route.
package path
