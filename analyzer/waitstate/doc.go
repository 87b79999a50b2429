// Package waitstate finds where ranks waited for each other, how long, and for which rank.
//
// Its input is matched messages and collectives (package match), its output wait states in program
// order of each location. The patterns are Scalasca's (2.5, src/scout/generator/*.pattern; Böhme et
// al., "Identifying the root causes of wait states in large-scale parallel applications", ICPP
// 2010):
//
//	Late Sender      a receive was blocked before the send was entered
//	Late Receiver    a send that cannot buffer (rendezvous) was blocked before the receive was
//	                 entered; also small sends if those of their size are observed to wait
//	                 (small.go)
//	Late Progress    the same, but the receive (or a nonblocking send) had been posted and its
//	                 rank was computing: a message is transferred only while both sides are inside
//	                 MPI (package match, progress.go)
//	Wait at NxN      all-to-all, and Wait at Barrier: until the last participant had entered
//	Late Broadcast   one-to-all: until the root had entered
//	Early Reduce     all-to-one: the root, until the last of the others had entered (as revised in
//	                 Scalasca 2.6)
//	Early Scan       prefix: until the last of ranks 0 … i had entered;
//	                 these three also: until the last participant had entered that is needed in
//	                 the middle of the tree that explains the exits best (trees.go)
//	Wait at Neighborhood Collective   until the last neighbor had entered
//	Wait at Fence, at Window, at Collective File Access   until the last participant had entered,
//	                 if the call lasted that long: they need not synchronize
//	Late Post        MPI_Win_start or MPI_Win_complete, until the target had exposed its window
//	Early Wait       MPI_Win_wait, until the last origin had entered MPI_Win_complete
//	Lock Contention  MPI_Win_lock or MPI_Win_unlock, until another rank had released the lock
//	                 (package match, lock.go)
//
// All waits are clamped to the exit of the waiting call. A call that completes several operations
// (MPI_Waitall, MPI_Sendrecv) waits for the last of them. The time of a participant after its
// partner's arrival is communication, not waiting.
package waitstate
