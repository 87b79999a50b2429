// Package match finds what the calls of different ranks have to do with each other.
//
// In go the calls of all ranks, one by one (package timeline). Out come messages, each with the calls that posted and
// completed both of its ends, and collective operations with all their participants. Matching is by order alone, as
// the MPI standard defines it (MPI 4.0 §3.5, §6.14), never by time:
//
//   - messages are FIFO per (communicator, source, destination, tag), sends and receives each in the order in which
//     they were posted; a receive with a wildcard takes its place in that order when its status tells its envelope;
//   - a matched probe (Mprobe) takes the message, and Mrecv completes it;
//   - the n-th collective of a communicator instance on one rank belongs to the n-th on every other; blocking and
//     non-blocking ones share one count.
//
// MPI_PROC_NULL matches nothing. A request is followed from the call that made it active to the one that completed
// it. Memory grows with ranks and with pending operations. What finds no partner is counted and reported by function
// and rank (Leftovers): ranks that ended early or are missing are no error.
//
// # Sections
//
// All takes calls in the order of time. InSections takes them section by section: some calls of some ranks that have to do with
// no others (section.go). Most sections repeat in the trips of loops; from the second time on they have a shape (shape.go), which
// says what is matched with what, and only the times are looked at (evaluate.go). What is found is the same
// (docs/decisions/0084-loop-shapes.md).
package match
