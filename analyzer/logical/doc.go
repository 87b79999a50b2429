// Package logical makes one program of all ranks: peers are directions in the topology instead of ranks.
//
// In goes a trace and its topology (package topology: the place of every rank in a pattern); out comes a Program, the
// sequence of calls of a maximal rank, one with as many neighbors as any, with NORTH, +x or parent in the place of
// ranks. It is the logical trace of "Logicalization of MPI communication traces" (Xu, Prithivathi, Subhlok, Zheng;
// University of Houston), §4.3, but for two things. What that paper takes for granted, that all ranks do what the maximal
// one does with the neighbors that they have, is checked call by call; ranks that do something else keep sequences of
// their own, so Expand gives back what every rank did. And communication beside the topology is kept, not dropped: such a
// peer keeps its rank.
//
// How many ranks are one program is another question, which does not ask for arguments: ranks are alike if they make the
// same calls at the same call sites in the same loops, as far as they have the neighbors (likeness.go).
//
// A call here is function, call site, arguments and peers. Requests, buffers and results are left out, as in the paper:
// they follow from the order of calls.
package logical
