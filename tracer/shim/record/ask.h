// Queries to MPI about the arguments of a call, before the call. Only queries that MPI answers
// locally, and only about handles that are not null: they must not make an error handler of the
// application run.
#ifndef CAIRN_ASK_H
#define CAIRN_ASK_H

#include "../process/abi.h"

// The group that a collective on comm addresses: the remote one of an intercommunicator.
int64_t cairn_ask_size(MPI_Comm comm);
int64_t cairn_ask_localsize(MPI_Comm comm);

// The maximal number of processes of a communicator made from comm: both groups.
int64_t cairn_ask_processes(MPI_Comm comm);

// Reports whether the caller is the root.
bool cairn_ask_root(MPI_Comm comm, int root);

// Topologies; 0 if comm has none.
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
