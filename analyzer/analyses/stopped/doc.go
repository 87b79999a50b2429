// Package stopped finds out how a run ended that did not come to MPI_Finalize: did it hang, did a rank die, or was it ended
// while all was well.
//
// In goes a trace with ranks that ended early, and the run's clock map. Out come findings: who waited in which call for
// whom and since when, the shortest cycle of ranks that wait for each other, the rank that never came and where it was,
// collective calls that do not match, or the first rank to die. Times are in seconds.
//
// Calls are matched as package match does; a rank waits for those that have not begun what its open call takes. Who waits
// is stuck if no rank that still computes can end that: then the order of calls alone shows a hang, however short it
// lasted. If somebody can, it is a hang only where that rank has computed for much longer than any rank ever did before.
package stopped
