// What a wrapper asks MPI about its arguments before the call. Only questions that MPI answers locally, and only about
// handles that are not null: an error handler of the application must not run because of us.
#ifndef CAIRN_ASK_H
#define CAIRN_ASK_H

#include "../process/abi.h"

// The group that a collective on comm addresses: the remote one of an intercommunicator.
int64_t cairn_ask_size(MPI_Comm comm);
int64_t cairn_ask_localsize(MPI_Comm comm);

// All processes that a communicator made of comm can have: both groups.
int64_t cairn_ask_processes(MPI_Comm comm);

// Is the caller the root?
bool cairn_ask_root(MPI_Comm comm, int root);

// Topologies; 0 where comm has none.
int64_t cairn_ask_indegree(MPI_Comm comm);
int64_t cairn_ask_outdegree(MPI_Comm comm);
int64_t cairn_ask_ndims(MPI_Comm comm);
int64_t cairn_ask_nnodes(MPI_Comm comm);
int64_t cairn_ask_nedges(MPI_Comm comm);
int64_t cairn_ask_neighbors(MPI_Comm comm, int rank);

// The contents of a datatype.
int64_t cairn_ask_integers(MPI_Datatype datatype);
int64_t cairn_ask_addresses(MPI_Datatype datatype);
int64_t cairn_ask_datatypes(MPI_Datatype datatype);
int64_t cairn_ask_counts(MPI_Datatype datatype);

#endif
