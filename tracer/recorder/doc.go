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
//	observed    observations of the shim other than calls
//	online      clustering of ranks while they run
//	recorder    records to signatures and terminals
//	spool       the directory of a process: buffers, checkpoints, logs, parts, recovery
//
// # From a record to a terminal
//
// The parameter list of a function says where the parameters are in a record (layout.go). The
// arguments are written in canonical form as bytes, the key (key.go, signature.go). Keys are
// numbered in the order in which they are first seen; the number is the terminal (Pilgrim, Wang
// et al., SC '21, §2.1), which is appended to the grammar of the thread (§2.2). What another
// instance of the same call may return differently (statuses, flags, indices, counts) is not part
// of the key. It is appended to a value stream of the terminal. slots.go is the one table that
// decides which is which.
//
// Most calls repeat an earlier call and need none of this. There are three paths, the fastest
// first. All of them lead to the same state, byte by byte:
//
//   - loops.go compares whole iterations of a loop with the one before;
//   - repeats.go compares a record with an earlier call. Whoever changes what a key depends on must
//     follow its rule: increment the generation of the tables, or call repeats.forget;
//   - apply.go decodes the record (the slow path).
//
// # Handles
//
// Predefined handles are written by name. All others get symbolic ids (§3.3), dense per kind: a
// call that returns a handle takes the smallest free id, and freeing the handle frees the id. An
// object that MPI returns twice with the same handle (MPI_Comm_group in Open MPI) keeps its id and
// must be freed twice.
//
// # Requests
//
// Ids of requests do not depend on the order of completion (§3.4.3). Every creating signature
// (function, call site and arguments without the request) has its own free list of indices. A pair
// of creating signature and index is one request id; ids are numbered in the order in which they
// are first seen and are never reassigned. So a request id occurs in the out values of exactly one
// signature, and a terminal that creates a request always creates the same id.
//
// To follow a request, keep the last call that created each id:
//
//   - a call whose out request (parameter with effect "new") is Handle k makes k live;
//   - Handle k among the in values of a wait or test refers to the live k. The call ends k if it
//     completed it: always (MPI_Wait, MPI_Waitall), if the flag is true (MPI_Test, MPI_Testall), or
//     if k is at the returned index or indices (the any and some forms);
//   - MPI_Request_free ends k, too. A persistent or partitioned request ends only there: completion
//     leaves it inactive;
//   - k is never created again before it has ended.
//
// The out value of a request that may have been completed is Absent: it follows from these rules
// (MPI_REQUEST_NULL, or k itself for a persistent request). A call that failed may have
// completed some of its requests. Its out values are kept: MPI_REQUEST_NULL for those that
// ended, k for the rest.
//
// MPI may use one raw handle for several pending requests. Both implementations do so for small
// sends that complete at once. Such requests end in the order of their creation, those of the
// calling thread first. The program cannot distinguish this from any other order.
//
// # Functions of the program
//
// Callbacks (user-defined operations, error handlers, attribute and generalized-request callbacks)
// are values of form Code. They are in the same table as call sites and are resolved to names
// together with them.
//
// # Communicators
//
// A communicator has a dense local id, as other handles have. It is an instance of
// trace.Communicator, whose global name all members compute alike without communication
// (communicators.go). The stream Signature.Communicator of a creating call is the instance.
// MPI_COMM_WORLD is instance 0. MPI_COMM_SELF and the communicator to the parents of a spawned
// world become instances at their first use. The world on the other side of an intercommunicator is
// only known once both sides are: see merger.JoinWorlds.
//
// # Clustering
//
// A process in clustered mode casts a ballot at each marker: a summary of its calls. The decision
// of the ranks is a record, too. From then on the times of a rank that follows another one are
// buffered until the next vote (clustering.go, package online).
//
// # Memory
//
//   - Repeated calls take memory once.
//   - What never repeats leaves memory in blocks, which are written to files beside the
//     checkpoints: times, values of streams, closed grammars (block.go, chapters.go).
//   - The rest are tables of distinct entries; a checkpoint writes only their changes (tables.go).
//   - Before the tables reach a limit the recorder generalizes (families.go, memory_limit.go).
//
// # Order of threads
//
// Threads share handles, so the records of a process are consumed in the order of their
// epochs (sources.go).
package recorder
