// Package match matches the calls of different ranks with each other.
//
// Its input is the calls of all ranks, one by one (package timeline). It reports messages, each
// with the calls that posted and completed both of its ends, and collective operations with all
// their participants. Matching goes by order alone, as the MPI standard defines it (MPI 4.0 §3.5,
// §6.14), never by time:
//
//   - Messages are FIFO per (communicator, source, destination, tag): sends and receives each in
//     posting order. A wildcard receive keeps its position in that order and gets its envelope from
//     its status.
//   - A matched probe (Mprobe) takes the message, and Mrecv completes it.
//   - The n-th collective of a communicator instance on one rank belongs to the n-th on every other
//     rank. Blocking and nonblocking collectives share one count.
//
// MPI_PROC_NULL matches nothing. A request is followed from the call that activates it to the one
// that completes it. Memory grows with the number of ranks and of pending operations. Operations
// without a partner are counted and reported by function and rank (Leftovers). Ranks that ended
// early or are missing are not an error.
//
// # Sections
//
// All processes calls in order of time. InSections processes them section by section: a section is
// a set of successive calls of some ranks that does not interact with the rest (section.go). Most
// sections repeat in the iterations of loops. From the second occurrence on they have a shape
// (shape.go), which records what is matched with what, so that only the times are evaluated
// (evaluate.go). Both find the same (docs/decisions/0084-loop-shapes.md).
package match
