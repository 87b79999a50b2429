// Package stopped determines how a run ended that did not reach MPI_Finalize: whether it hung, a
// rank died, it was ended while it made progress, or none of these is known; and which rank made a
// call after MPI_Finalize that it did not return from.
//
// Its input is a trace with ranks that ended early, and the run's clock map. Its findings are the
// waiting ranks with their calls, the ranks that they waited for and since when; the shortest cycle
// of ranks that wait for each other; the rank that never came and where it was; mismatched
// collective calls; or the first rank to die. Times are in seconds.
//
// Calls are matched as in package match. A rank waits for the ranks that have not begun what its
// open call, or the tests that it polls with, require. Each rank can proceed, cannot, or it is
// unknown: what depends on all of several ranks has the least of their abilities, what depends on
// one of them the greatest (ability.go). Ranks in calls that cannot proceed are a hang; mismatched
// collectives, cycles and missing ranks are readings of that set (hangs.go). Of calls that an MPI
// error ended, the arguments say which can have failed (errors.go). If neither a hang nor a death
// is known, only what was seen is reported (seen.go).
package stopped
