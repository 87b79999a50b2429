// Package logical merges all ranks into one program: peers are directions in the topology instead
// of ranks.
//
// Its input is a trace and its topology (package topology: the position of every rank in a
// pattern). Its output is a Program, the sequence of calls of a maximal rank, that is, one with the
// most neighbors, with NORTH, +x or parent instead of ranks. It is the logical trace of
// "Logicalization of MPI communication traces" (Xu, Prithivathi, Subhlok, Zheng; University of
// Houston), §4.3, with two differences:
//
//   - The paper assumes that all ranks do what the maximal one does with the neighbors that they
//     have. Here this is checked call by call. Ranks that do something else keep their own
//     sequences, so that Expand returns what every rank did.
//   - Communication outside the topology is kept: such a peer keeps its rank.
//
// How many ranks share one program is a separate question, which ignores arguments: ranks are alike
// if they make the same calls at the same call sites in the same loops, as far as they have the
// neighbors (likeness.go).
//
// A call here is function, call site, arguments and peers. Requests, buffers and results are
// omitted, as in the paper: they follow from the order of calls.
package logical
