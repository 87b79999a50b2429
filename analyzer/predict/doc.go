// Package replay plays a run again under other conditions: what if?
//
// In go a trace, its nodes' clocks and Scenarios (a rank that computes faster, another network, a call site that
// costs nothing); out comes how long the run would have taken in each. All scenarios are played in one pass.
//
// # The model
//
// A thread is a sequence of computations and calls. A call begins when the computation before it ends, and ends not
// before what it depends on:
//
//   - a receive on the entry of the call that sent the message;
//   - a send that had to wait for its receive (rendezvous) on the entry of the call that posted that, or of the one in
//     which the receiver was inside MPI again, if it was computing when the send was posted: a large message moves only
//     while both sides are inside (package match, progress.go). So does a receive whose sender was away;
//   - a collective on the entries of those whose data it needs (all for barriers and all-to-all, the root for one-to-all,
//     everybody for the root of all-to-one, ranks 0 … i for scans), and of those in the middle of a tree that were late
//     (package eventlog, tree.go), where the times show it.
//
// Whatever else it takes is its own cost (cost.go):
//
//	exit' = max(entry' + local, dependencies' + transfer)             as measured
//	exit' = max(entry', dependencies' + L + bytes G) + o              on a network with latency L, time per byte G, overhead o
//
// the second of which is LogGP (Alexandrov et al., SPAA 1995) without the gap between messages. A large message makes a
// handshake: the sender asks, the receiver answers when it is there, and then the data comes. With s and r the entries of the calls that posted its two sides,
//
//	received at max(s' + 3 L, r' + 2 L) + bytes G, sent at max(s' + 2 L, r' + L) + bytes G
//
// while a message that makes none is received at s' + L + bytes G, and its send waits for nobody. From which size on there
// is a handshake is as the run shows (package eventlog, handshake.go). A collective takes, from when the last one came that is
// needed, what the quickest of the textbook algorithms does on that network for as many participants and bytes (algorithm.go:
// Thakur, Rabenseifner and Gropp, IJHPCA 19(1), 2005); without data that is log2 P latencies. The ideal network has
// L = G = o = 0: MPI costs nothing but its dependencies, but for file operations, which keep their time; it gives the T_ideal of POP's serialisation and
// transfer efficiencies (co-design.pop-coe.eu; Dimemas does the same from a Paraver trace). As measured and with nothing
// changed, every call keeps its times exactly: the first test of this package.
//
// Rounded times may say that a call ended before what it depends on. It depends on it all the same, or its wait would be
// taken for a cost of its own; its transfer is negative then.
//
// Polling (MPI_Test in a loop) is waiting: the polls in vain and what lies between them take as long as the wait does.
//
// # What is assumed
//
// Ranks compute independently of each other: no contention for memory or network changes. Calls are matched as they
// were: a wildcard receives from the same sender, and a large message moves in the same call of its receiver. Who was not
// late in the middle of a rooted collective's tree, or in one that is not binomial, holds up nobody but by the data. All
// participants of a collective need all of its rounds, also the last one to come. To combine data takes no time. A second
// thread starts as long after the rank's first as it did.
//
// # How
//
// What was matched comes from a event log (package eventlog): of each slab, a thread's calls are read and played as far as they
// do not depend on another thread that is behind; then it is the next thread's turn, and the first goes on as soon as what
// it needs has been played (play.go). No thread keeps more calls than the one that it is at. Memory grows with pending
// operations.
package predict
