// Package recorder turns the raw records of one MPI process into its part of a trace.
//
// Its input is the record buffers that the shim fills and process.json (package record).
// Its results are:
//
//   - Content: a trace.Content with one rank, that is call signatures, a grammar per thread, value
//     streams, timing, communicators and call sites;
//   - Block: the data that grows with the number of calls, returned while recording goes on;
//   - AppendCheckpoint: the current state, from which RestoreFrom makes another
//     Recorder that continues.
//
// The package opens no file except the dictionary. It knows MPI through the tables of packages mpi
// and mpi/semantics.
//
// The packages around it; each may import only those above it:
//
//	checkpoint  values of a checkpoint
//	clock       samples of the clocks
//	record      the raw format: buffers, records, dictionary, process.json
//	identity    symbolic ids of handles, requests and communicators
//	callsite    numbers of call sites
//	values      value streams: the results of calls
//	observed    observations of the shim other than calls
//	online      clustering of ranks while they run
//	key         records to signatures and terminals
//	repeat      calls and iterations that repeat earlier ones
//	recorder    threads, effects, times, blocks, checkpoints
//	spool       the directory of a process: buffers, checkpoints, logs, parts, recovery
//
// # From a record to a terminal
//
// The terminal of a call is appended to the grammar of its thread (Pilgrim, Wang et al., SC '21,
// §2.2). There are three ways to it, the fastest first. All of them lead to the same state, byte by
// byte:
//
//   - whole iterations of a loop are compared with the one before (package repeat);
//   - a record is compared with an earlier call (package repeat). Whoever changes what a key
//     depends on must follow the rule of key.Pattern;
//   - the key is written (package key; apply.go).
//
// What another instance of the same call may return differently (statuses, flags, indices, counts)
// is not part of the key. It is appended to a value stream of the terminal (package values).
//
// # Objects of MPI
//
// Handles, requests and communicators get symbolic ids that are the same wherever the program does
// the same (package identity).
//
// # Functions of the program
//
// Callbacks (user-defined operations, error handlers, attribute and generalized-request callbacks)
// are values of form Code. They are in the same table as call sites and are resolved to names
// together with them.
//
// # Clustering
//
// A process in clustered mode has a ballot about each interval between two markers: a summary of
// its calls. The decision of the ranks is a record, too. From then on the times of a rank that
// follows another one are buffered until the next vote (clustering.go, package online).
//
// # Memory
//
//   - Repeated calls take memory once.
//   - What never repeats leaves memory in blocks, which are written to files beside the
//     checkpoints: times, values of streams, closed grammars (block.go, chapters.go).
//   - The rest are tables of distinct entries; a checkpoint writes only their changes (tables.go).
//   - Before the tables reach a limit the recorder generalizes (memory_limit.go, key.Generality).
//
// # Order of threads
//
// Threads share handles, so the records of a process are consumed in the order of their
// epochs (sources.go).
package recorder
