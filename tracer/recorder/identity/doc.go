// Package identity gives the MPI objects of a process symbolic ids. Signatures have these instead
// of raw handles, which differ from rank to rank and from run to run.
//
// Its input is the constants of process.json and, call by call, the raw handles that were passed,
// returned or freed, and the descriptions of new communicators. Its results are:
//
//   - values: −1 − the index of a constant, or the id of an object (Known, Create, Constant;
//     Requests.Resolve);
//   - instances: the communicators of the trace (Instances);
//   - the state for a checkpoint (EncodeTables, VisitLive).
//
// All of them depend only on the order of the calls. Objects is the whole interface, with its
// Requests.
//
// Section numbers are those of Pilgrim (Wang et al., SC '21).
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
// # Communicators
//
// A communicator has a dense local id, as other handles have. It is an instance of
// trace.Communicator, whose global name all members compute alike without communication
// (names.go). The stream Signature.Communicator of a creating call is the instance.
// MPI_COMM_WORLD is instance 0. MPI_COMM_SELF and the communicator to the parents of a spawned
// world become instances at their first use. The world on the other side of an intercommunicator is
// only known once both sides are: see merger.JoinWorlds.
package identity
