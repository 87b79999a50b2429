// Package stopped determines how a run ended that did not reach MPI_Finalize: whether it hung, a
// rank died, or it was ended while it made progress.
//
// Its input is a trace with ranks that ended early, and the run's clock map. Its findings are the
// waiting ranks with their calls, the ranks that they waited for and since when; the shortest cycle
// of ranks that wait for each other; the rank that never came and where it was; mismatched
// collective calls; or the first rank to die. Times are in seconds.
//
// Calls are matched as in package match. A rank waits for the ranks that have not begun what its
// open call requires. It is stuck if no rank that still computes can end that wait: then the order
// of calls alone proves a hang, however short it lasted. If a computing rank can end it, it is a
// hang only if that rank has computed for much longer than any rank ever did before.
package stopped
