// Package replay plays a run again under other conditions: what if?
//
// In go a trace, its nodes' clocks and Scenarios (a rank that computes faster, another network, a call site that
// costs nothing); out comes how long the run would have taken in each. All scenarios are played in one pass.
//
// # The model
//
// A thread is a sequence of computations and calls. A call begins when the computation before it ends, and ends not
// before what it depends on: a receive on the entry of the call that sent the message, a send that had to wait for its
// receive (rendezvous) on the entry of the call that posted that, a collective on the entries of those whose data it
// needs (all for barriers and all-to-all, the root for one-to-all, everybody for the root of all-to-one, ranks 0 … i
// for scans). Whatever else it takes is its own cost (cost.go):
//
//	exit' = max(entry' + local, dependencies' + transfer)             as measured
//	exit' = max(entry', dependencies' + L + bytes G) + o              on a network with latency L, time per byte G, overhead o
//
// which is LogGP (Alexandrov et al., SPAA 1995) without the gap between messages; a collective of P participants takes
// log2 P latencies. The ideal network has L = G = o = 0: MPI costs nothing but its dependencies, but for file
// operations, which keep their time; it gives the T_ideal of POP's serialisation and transfer efficiencies
// (co-design.pop-coe.eu; Dimemas does the same from a Paraver trace). As measured and with nothing changed, every call
// keeps its times exactly: the first test of this package.
//
// Polling (MPI_Test in a loop) is waiting: the polls in vain and what lies between them take as long as the wait does.
//
// # What is assumed
//
// Ranks compute independently of each other: no contention for memory or network changes. Calls are matched as they
// were: a wildcard receives from the same sender. A second thread starts as long after the rank's first as it did.
//
// # How
//
// Calls come in the order of their entries; package match says on whom they depend, which may be known only later.
// Each thread's calls wait in a queue until all dependencies have been played (play.go). Memory grows with pending
// operations.
package replay
