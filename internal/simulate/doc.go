// Package simulate makes traces of MPI programs that never ran, for any number of ranks.
//
// In goes a Config: a communication pattern with its grid, iterations and message size, how unevenly the ranks work,
// and how long computing and communicating take. Out comes, rank by rank, the trace.Content that the tracer would have
// recorded (Simulation.Rank), and what is known to be true of it: every wait, with its cause (Simulation.Waits).
//
// A pattern is a Go function that makes the MPI calls of one rank, in a file of its own. Its calls are replayed in the
// order of time (replay.go): receives wait for their sends, collectives for the last rank, large sends for their
// receives, wildcards take what arrives first. Without the replay (Config.NoReplay) every rank is made alone, in
// bounded memory, so that a million can be: all calls and arguments are the same, but nobody waits.
//
// Calls become raw records as the shim writes them and go through tracer/recorder, in this process: signatures,
// grammar, request ids, value streams and timing are those of the tracer's own encoder, which a trace writer's path
// would have had to imitate.
package simulate
