// Package simulate creates traces of MPI programs that never ran, for any number of ranks.
//
// The input is a Config: a communication pattern with its grid, iterations and message size, the
// imbalance of the ranks, and how long computation and communication take. The output is, for each
// rank, the trace.Content that the tracer would have recorded (Simulation.Rank), and its ground
// truth: every wait with its cause (Simulation.Waits).
//
// A pattern is a Go function that makes the MPI calls of one rank, in its own file. Its calls are
// replayed in the order of time (replay.go): receives wait for their sends, collectives for the
// last rank, large sends for their receives, and wildcards take what arrives first. Without the
// replay (Config.NoReplay) every rank is simulated by itself, in bounded memory, so that a million
// ranks are possible: all calls and arguments are the same, but ranks never wait.
//
// Calls become raw records as the shim writes them, and go through tracer/recorder in this process.
// So signatures, grammar, request ids, value streams and timing come from the tracer's own encoder,
// without a second implementation.
package simulate
