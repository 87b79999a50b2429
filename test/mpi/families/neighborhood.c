// SPDX-License-Identifier: Apache-2.0
// Neighborhood collectives, blocking, non-blocking and persistent, with the large-count forms: on a directed ring (one
// neighbor in, one out) and on a Cartesian one (two of each).
#include "family.h"

enum { MOST = 4 };

static int mine[MOST], all[MOST];
static int counts[MOST] = {1, 1, 1, 1}, offsets[MOST] = {0, 1, 2, 3};
static MPI_Aint bytes[MOST];
static MPI_Datatype types[MOST];
static MPI_Request request;
static MPI_Comm comm;
static int degree, from; // the first neighbor in

static void fresh(void)
{
    for (int i = 0; i < MOST; i++) {
        mine[i] = rank + 1;
        all[i] = -1;
    }
}

static void complete(void)
{
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void arrived(void)
{
    CHECK(all[0] == from + 1);
    CHECK(degree == MOST || all[degree] == -1);
}

#if MPI_VERSION >= 4
static MPI_Count counts_c[MOST] = {1, 1, 1, 1};
static MPI_Aint offsets_c[MOST] = {0, 1, 2, 3};

static void repeat(void)
{
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}
#endif

static void blocking(void)
{
    fresh();
    MPI_Neighbor_allgather(mine, 1, MPI_INT, all, 1, MPI_INT, comm);
    arrived();
    fresh();
    MPI_Neighbor_allgatherv(mine, 1, MPI_INT, all, counts, offsets, MPI_INT, comm);
    arrived();
    fresh();
    MPI_Neighbor_alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, comm);
    arrived();
    fresh();
    MPI_Neighbor_alltoallv(mine, counts, offsets, MPI_INT, all, counts, offsets, MPI_INT, comm);
    arrived();
    fresh();
    MPI_Neighbor_alltoallw(mine, counts, bytes, types, all, counts, bytes, types, comm);
    arrived();
}

static void nonblocking(void)
{
    fresh();
    MPI_Ineighbor_allgather(mine, 1, MPI_INT, all, 1, MPI_INT, comm, &request);
    complete();
    arrived();
    fresh();
    MPI_Ineighbor_allgatherv(mine, 1, MPI_INT, all, counts, offsets, MPI_INT, comm, &request);
    complete();
    arrived();
    fresh();
    MPI_Ineighbor_alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, comm, &request);
    complete();
    arrived();
    fresh();
    MPI_Ineighbor_alltoallv(mine, counts, offsets, MPI_INT, all, counts, offsets, MPI_INT, comm, &request);
    complete();
    arrived();
    fresh();
    MPI_Ineighbor_alltoallw(mine, counts, bytes, types, all, counts, bytes, types, comm, &request);
    complete();
    arrived();
}

#if MPI_VERSION >= 4
static void persistent(void)
{
    fresh();
    MPI_Neighbor_allgather_init(mine, 1, MPI_INT, all, 1, MPI_INT, comm, MPI_INFO_NULL, &request);
    repeat();
    arrived();
    fresh();
    MPI_Neighbor_allgatherv_init(mine, 1, MPI_INT, all, counts, offsets, MPI_INT, comm, MPI_INFO_NULL, &request);
    repeat();
    arrived();
    fresh();
    MPI_Neighbor_alltoall_init(mine, 1, MPI_INT, all, 1, MPI_INT, comm, MPI_INFO_NULL, &request);
    repeat();
    arrived();
    fresh();
    MPI_Neighbor_alltoallv_init(mine, counts, offsets, MPI_INT, all, counts, offsets, MPI_INT, comm, MPI_INFO_NULL, &request);
    repeat();
    arrived();
    fresh();
    MPI_Neighbor_alltoallw_init(mine, counts, bytes, types, all, counts, bytes, types, comm, MPI_INFO_NULL, &request);
    repeat();
    arrived();
}

static void blocking_large(void)
{
    fresh();
    MPI_Neighbor_allgather_c(mine, 1, MPI_INT, all, 1, MPI_INT, comm);
    arrived();
    fresh();
    MPI_Neighbor_allgatherv_c(mine, 1, MPI_INT, all, counts_c, offsets_c, MPI_INT, comm);
    arrived();
    fresh();
    MPI_Neighbor_alltoall_c(mine, 1, MPI_INT, all, 1, MPI_INT, comm);
    arrived();
    fresh();
    MPI_Neighbor_alltoallv_c(mine, counts_c, offsets_c, MPI_INT, all, counts_c, offsets_c, MPI_INT, comm);
    arrived();
    fresh();
    MPI_Neighbor_alltoallw_c(mine, counts_c, bytes, types, all, counts_c, bytes, types, comm);
    arrived();
}

static void nonblocking_large(void)
{
    fresh();
    MPI_Ineighbor_allgather_c(mine, 1, MPI_INT, all, 1, MPI_INT, comm, &request);
    complete();
    arrived();
    fresh();
    MPI_Ineighbor_allgatherv_c(mine, 1, MPI_INT, all, counts_c, offsets_c, MPI_INT, comm, &request);
    complete();
    arrived();
    fresh();
    MPI_Ineighbor_alltoall_c(mine, 1, MPI_INT, all, 1, MPI_INT, comm, &request);
    complete();
    arrived();
    fresh();
    MPI_Ineighbor_alltoallv_c(mine, counts_c, offsets_c, MPI_INT, all, counts_c, offsets_c, MPI_INT, comm, &request);
    complete();
    arrived();
    fresh();
    MPI_Ineighbor_alltoallw_c(mine, counts_c, bytes, types, all, counts_c, bytes, types, comm, &request);
    complete();
    arrived();
}

static void persistent_large(void)
{
    fresh();
    MPI_Neighbor_allgather_init_c(mine, 1, MPI_INT, all, 1, MPI_INT, comm, MPI_INFO_NULL, &request);
    repeat();
    arrived();
    fresh();
    MPI_Neighbor_allgatherv_init_c(mine, 1, MPI_INT, all, counts_c, offsets_c, MPI_INT, comm, MPI_INFO_NULL, &request);
    repeat();
    arrived();
    fresh();
    MPI_Neighbor_alltoall_init_c(mine, 1, MPI_INT, all, 1, MPI_INT, comm, MPI_INFO_NULL, &request);
    repeat();
    arrived();
    fresh();
    MPI_Neighbor_alltoallv_init_c(mine, counts_c, offsets_c, MPI_INT, all, counts_c, offsets_c, MPI_INT, comm, MPI_INFO_NULL, &request);
    repeat();
    arrived();
    fresh();
    MPI_Neighbor_alltoallw_init_c(mine, counts_c, bytes, types, all, counts_c, bytes, types, comm, MPI_INFO_NULL, &request);
    repeat();
    arrived();
}

#endif

static void everything(void)
{
    blocking();
    nonblocking();
#if MPI_VERSION >= 4
    persistent();
    blocking_large();
    nonblocking_large();
    persistent_large();
#endif
}

int main(void)
{
    begin();
    int periodic = 1, to = (rank + 1) % ranks;
    for (int i = 0; i < MOST; i++) {
        bytes[i] = i * sizeof(int);
        types[i] = MPI_INT;
    }
    from = (rank + ranks - 1) % ranks;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    degree = 1;
    everything();
    MPI_Comm_free(&comm);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &comm);
    degree = 2;
    everything();
    MPI_Comm_free(&comm);
    return end();
}
