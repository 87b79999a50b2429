// Package predict replays a run under other conditions: what if?
//
// The input is a trace, its nodes' clocks and Scenarios (a rank that computes faster, another
// network, a call site without cost). The output is how long the run would have taken in each. All
// scenarios are replayed in one pass.
//
// # The model
//
// A thread is a sequence of computations and calls. A call begins when the computation before it
// ends, and does not end before its dependencies:
//
//   - a receive depends on the entry of the call that sent the message;
//   - a send that had to wait for its receive (rendezvous) depends on the entry of the call that
//     posted the receive. If the receiver was computing when the send was posted, it depends on the
//     entry of the call in which the receiver was inside MPI again: a large message moves only
//     while both sides are inside (package match, progress.go). The same is true of a receive whose
//     sender was computing;
//   - a collective depends on the entries of the participants whose data it needs: all for barriers
//     and all-to-all, the root for one-to-all, everybody for the root of all-to-one, ranks 0 … i
//     for scans. It also depends on the entries of ranks in the middle of a tree that were late
//     (package eventlog, tree.go), if the times show it.
//
// Everything else is the call's own cost (cost.go):
//
//	exit' = max(entry' + local, dependencies' + transfer)     as measured
//	exit' = max(entry', dependencies' + L + bytes G) + o      on a network
//
// with latency L, time per byte G and overhead o. The second line is LogGP (Alexandrov et al., SPAA
// 1995) without the gap between messages. A large message uses a handshake: the sender asks, the
// receiver answers when it is inside MPI, and then the data is sent. If s and r are the entries of
// the calls that posted its two sides, it is
//
//	received at max(s' + 3 L, r' + 2 L) + bytes G, sent at max(s' + 2 L, r' + L) + bytes G
//
// A message without a handshake is received at s' + L + bytes G, and its send does not wait. The
// minimum size for a handshake is measured in the run (package eventlog, handshake.go).
//
// A collective takes, after the last participant that is needed has entered, as long as the fastest
// of the textbook algorithms on that network for as many participants and bytes (algorithm.go:
// Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005); without data that is log2 P latencies.
//
// The ideal network has L = G = o = 0: MPI costs nothing but its dependencies, except for file
// operations, which keep their time. It gives the T_ideal of POP's serialization and transfer
// efficiencies (co-design.pop-coe.eu; Dimemas does the same from a Paraver trace). As measured and
// without changes, every call keeps its times exactly: the first test of this package.
//
// With rounded times a call may end before its dependency. The dependency is kept, or the wait
// would be taken for a cost of the call; the transfer is negative then.
//
// Polling (MPI_Test in a loop) is waiting: the unsuccessful polls and the time between them take as
// long as the wait.
//
// # Assumptions
//
//   - Ranks compute independently: contention for memory or the network does not change.
//   - Calls are matched as they were: a wildcard receives from the same sender, and a large message
//     moves in the same call of its receiver.
//   - A rank in the middle of a rooted collective's tree that was not late, or is in a tree that is
//     not binomial, delays others only by its data.
//   - All participants of a collective need all of its rounds, even the last one to enter.
//   - Combining data takes no time.
//   - A second thread starts as long after the rank's first one as it did.
//
// # Implementation
//
// The matched calls come from an event log (package eventlog). In each slab, a thread's calls are
// read and replayed until one depends on another thread that is behind. Then it is the next
// thread's turn, and the first one continues as soon as its dependency has been replayed (play.go).
// Only the current call of each thread is in memory. Memory grows with pending operations.
package predict
