// Package recorder turns the raw records of one MPI process into its part of a trace.
//
// In go record buffers as the shim fills them and process.json (package record); out comes a trace.Content with one rank: call
// signatures, a grammar per thread, value streams, timing, communicators, call sites. On the way it gives out what grows with
// the number of calls (Block), and its state as of now, from which another Recorder goes on (AppendCheckpoint, RestoreFrom).
// The package opens no file but the dictionary: it knows MPI through the tables of packages mpi and mpi/semantics, and disks
// not at all.
//
// The rooms around it, of which each knows only those before it:
//
//	checkpoint  values of a checkpoint
//	clock       samples of the clocks
//	record      the raw format: buffers, records, dictionary, process.json
//	observed    what the shim observes beside calls
//	online      clustering of ranks while they run
//	recorder    records to signatures and terminals
//	spool       the directory of a process: buffers, checkpoints, logs, parts, recovery
//
// # From a record to a terminal
//
// A record is taken apart by the parameter list of its function (layout.go), its arguments are written in canonical
// form as bytes, the key (key.go, signature.go), and the key is looked up: its number in order of first sight is the terminal
// (Pilgrim, Wang et al., SC '21, §2.1), which goes to the grammar of the thread (§2.2). Whatever a call returns and
// another instance of the same call would return differently — statuses, flags, indices, counts — is not part of the
// key but of a value stream of the terminal; slots.go is the one table that decides.
//
// Most calls are repeats of one that came before and need none of this. There are three ways, the fastest first, and all
// give the same state, byte by byte:
//
//   - loops.go compares whole iterations of a loop with the one before;
//   - repeats.go compares a record with a call that came before. It has the rule for whoever changes what a key depends on:
//     count the generation of the tables up, or call repeats.forget;
//   - apply.go takes the record apart.
//
// # Handles
//
// Predefined handles are written by name. All others get symbolic ids (§3.3), dense per kind: the smallest free id
// when a call hands out a handle, free again when the handle is. An object that MPI hands out twice with the same
// handle (MPI_Comm_group in Open MPI) keeps its id and has to be freed twice.
//
// # Requests
//
// Ids of requests do not depend on the order of completion (§3.4.3). Every creating signature (function, call site,
// arguments, without the request) has its own free list of indices; a pair of creating signature and index is one
// request id, given in order of first sight, forever. So a request id stands in exactly one signature's out values,
// and a terminal that creates a request always creates the same id.
//
// To follow a request, keep for each id the last call that created it:
//
//   - a call whose out request (parameter with effect "new") is Handle k makes k live;
//   - Handle k among the in values of a wait or test names the live k; it ends with that call if the call completed it:
//     always (MPI_Wait, MPI_Waitall), if the flag is true (MPI_Test, MPI_Testall), if it stands at the returned index or
//     indices (the any and some forms);
//   - it also ends with MPI_Request_free, and a persistent or partitioned request ends only there: its completion leaves
//     it inactive;
//   - k is never created again before it has ended.
//
// The out value of a request that may have been completed is Absent: it follows from these rules (MPI_REQUEST_NULL,
// or k itself for a persistent request). A call that failed may have completed some of its requests; there the out
// values say so: MPI_REQUEST_NULL for those that ended, k for the rest.
//
// MPI may give several pending requests one raw handle (both implementations do so for small sends that are complete at
// once); such requests are ended in the order of their creation, a thread's own first, which the program cannot tell
// from any other order.
//
// # Functions of the program
//
// Callbacks (user-defined operations, error handlers, attribute and generalized-request callbacks) are values of form
// Code: they are in the same table as call sites, and resolved to names with them.
//
// # Communicators
//
// A communicator has a dense local id, as other handles have, and is an instance of trace.Communicator, whose global
// name is the same on all its members without communication (communicators.go). The stream Signature.Communicator of a
// creating call gives the instance. MPI_COMM_WORLD is instance 0; MPI_COMM_SELF and the communicator to
// the parents of a spawned world become one when they are first used or asked for. Which world the other side of
// an intercommunicator is can be told only where both are known: merger.JoinWorlds.
//
// # Clustering
//
// A process whose mode is clustered has a ballot at markers, of what its calls were; what the ranks decided is a record of its
// own, after which the times of a rank that is led wait for the next vote (clustering.go, package online).
//
// # Memory
//
//   - What a program repeats takes memory once.
//   - What never repeats leaves memory in blocks, which go to files beside the checkpoints: times, values of streams, closed
//     grammars (block.go, chapters.go).
//   - What is left are tables of what is new, of which a checkpoint writes what has changed (tables.go).
//   - Before they reach a limit the recorder generalizes (families.go, memory_limit.go).
//
// # Order of threads
//
// Threads share handles, so the records of a process are consumed in the order of their epochs (sources.go).
package recorder
