// SPDX-License-Identifier: Apache-2.0
// Every collective operation, blocking, non-blocking and persistent, with the large-count forms; operations.
//
// The data are such that the result is known: rank r contributes r + 1 in every element.
#include "family.h"

enum { MOST = 4 };

static int mine[MOST * MOST], all[MOST * MOST];
static int counts[MOST], offsets[MOST], bytes[MOST];
static MPI_Datatype types[MOST];
static MPI_Request request;

static void fresh(void)
{
    for (int i = 0; i < MOST * MOST; i++) {
        mine[i] = rank + 1;
        all[i] = -1;
    }
}

static int sum(void)
{
    return ranks * (ranks + 1) / 2;
}

// complete ends a non-blocking operation.
static void complete(void)
{
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#if MPI_VERSION >= 4
static MPI_Count counts_c[MOST];
static MPI_Aint offsets_c[MOST], bytes_c[MOST];

// repeat runs a persistent operation and frees it. MPICH 4.0 cannot start a scatter twice.
static void repeat(int rounds)
{
    for (int round = 0; round < rounds; round++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
}
#endif

static void blocking(void)
{
    fresh();
    MPI_Bcast(mine, MOST, MPI_INT, 1, MPI_COMM_WORLD);
    CHECK(mine[MOST - 1] == 2);
    fresh();
    MPI_Gather(mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(rank != 0 || all[ranks - 1] == ranks);
    fresh();
    MPI_Gatherv(mine, 1, MPI_INT, all, counts, offsets, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(rank != 0 || all[ranks - 1] == ranks);
    fresh();
    MPI_Scatter(mine, 1, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD);
    CHECK(all[0] == 2);
    fresh();
    MPI_Scatterv(mine, counts, offsets, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD);
    CHECK(all[0] == 2);
    fresh();
    MPI_Allgather(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Allgatherv(mine, 1, MPI_INT, all, counts, offsets, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Alltoall(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Alltoallv(mine, counts, offsets, MPI_INT, all, counts, offsets, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Alltoallw(mine, counts, bytes, types, all, counts, bytes, types, MPI_COMM_WORLD);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Reduce(mine, all, MOST, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    CHECK(rank != 0 || all[MOST - 1] == sum());
    fresh();
    MPI_Allreduce(mine, all, MOST, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all[MOST - 1] == sum());
    fresh();
    MPI_Reduce_scatter(mine, all, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all[0] == sum());
    fresh();
    MPI_Reduce_scatter_block(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all[0] == sum());
    fresh();
    MPI_Scan(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all[0] == (rank + 1) * (rank + 2) / 2);
    fresh();
    MPI_Exscan(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(rank == 0 || all[0] == rank * (rank + 1) / 2);
}

static void nonblocking(void)
{
    fresh();
    MPI_Ibcast(mine, MOST, MPI_INT, 1, MPI_COMM_WORLD, &request);
    complete();
    CHECK(mine[MOST - 1] == 2);
    fresh();
    MPI_Igather(mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    complete();
    CHECK(rank != 0 || all[ranks - 1] == ranks);
    fresh();
    MPI_Igatherv(mine, 1, MPI_INT, all, counts, offsets, MPI_INT, 0, MPI_COMM_WORLD, &request);
    complete();
    CHECK(rank != 0 || all[ranks - 1] == ranks);
    fresh();
    MPI_Iscatter(mine, 1, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[0] == 2);
    fresh();
    MPI_Iscatterv(mine, counts, offsets, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[0] == 2);
    fresh();
    MPI_Iallgather(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Iallgatherv(mine, 1, MPI_INT, all, counts, offsets, MPI_INT, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Ialltoall(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Ialltoallv(mine, counts, offsets, MPI_INT, all, counts, offsets, MPI_INT, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Ialltoallw(mine, counts, bytes, types, all, counts, bytes, types, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Ireduce(mine, all, MOST, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request);
    complete();
    CHECK(rank != 0 || all[MOST - 1] == sum());
    fresh();
    MPI_Iallreduce(mine, all, MOST, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[MOST - 1] == sum());
    fresh();
    MPI_Ireduce_scatter(mine, all, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[0] == sum());
    fresh();
    MPI_Ireduce_scatter_block(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[0] == sum());
    fresh();
    MPI_Iscan(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[0] == (rank + 1) * (rank + 2) / 2);
    fresh();
    MPI_Iexscan(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    complete();
    CHECK(rank == 0 || all[0] == rank * (rank + 1) / 2);
}

#if MPI_VERSION >= 4
static void persistent(void)
{
    fresh();
    MPI_Bcast_init(mine, MOST, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(mine[MOST - 1] == 2);
    fresh();
    MPI_Gather_init(mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(rank != 0 || all[ranks - 1] == ranks);
    fresh();
    MPI_Gatherv_init(mine, 1, MPI_INT, all, counts, offsets, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(rank != 0 || all[ranks - 1] == ranks);
    fresh();
    MPI_Scatter_init(mine, 1, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(1);
    CHECK(all[0] == 2);
    fresh();
    MPI_Scatterv_init(mine, counts, offsets, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(1);
    CHECK(all[0] == 2);
    fresh();
    MPI_Allgather_init(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Allgatherv_init(mine, 1, MPI_INT, all, counts, offsets, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Alltoall_init(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Alltoallv_init(mine, counts, offsets, MPI_INT, all, counts, offsets, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Alltoallw_init(mine, counts, bytes, types, all, counts, bytes, types, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Reduce_init(mine, all, MOST, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(rank != 0 || all[MOST - 1] == sum());
    fresh();
    MPI_Allreduce_init(mine, all, MOST, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(all[MOST - 1] == sum());
    fresh();
    MPI_Reduce_scatter_init(mine, all, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(all[0] == sum());
    fresh();
    MPI_Reduce_scatter_block_init(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(all[0] == sum());
    fresh();
    MPI_Scan_init(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(all[0] == (rank + 1) * (rank + 2) / 2);
    fresh();
    MPI_Exscan_init(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(rank == 0 || all[0] == rank * (rank + 1) / 2);
}

static void blocking_large(void)
{
    fresh();
    MPI_Bcast_c(mine, MOST, MPI_INT, 1, MPI_COMM_WORLD);
    CHECK(mine[MOST - 1] == 2);
    fresh();
    MPI_Gather_c(mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(rank != 0 || all[ranks - 1] == ranks);
    fresh();
    MPI_Gatherv_c(mine, 1, MPI_INT, all, counts_c, offsets_c, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(rank != 0 || all[ranks - 1] == ranks);
    fresh();
    MPI_Scatter_c(mine, 1, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD);
    CHECK(all[0] == 2);
    fresh();
    MPI_Scatterv_c(mine, counts_c, offsets_c, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD);
    CHECK(all[0] == 2);
    fresh();
    MPI_Allgather_c(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Allgatherv_c(mine, 1, MPI_INT, all, counts_c, offsets_c, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Alltoall_c(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Alltoallv_c(mine, counts_c, offsets_c, MPI_INT, all, counts_c, offsets_c, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Alltoallw_c(mine, counts_c, bytes_c, types, all, counts_c, bytes_c, types, MPI_COMM_WORLD);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Reduce_c(mine, all, MOST, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    CHECK(rank != 0 || all[MOST - 1] == sum());
    fresh();
    MPI_Allreduce_c(mine, all, MOST, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all[MOST - 1] == sum());
    fresh();
    MPI_Reduce_scatter_c(mine, all, counts_c, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all[0] == sum());
    fresh();
    MPI_Reduce_scatter_block_c(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all[0] == sum());
    fresh();
    MPI_Scan_c(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all[0] == (rank + 1) * (rank + 2) / 2);
    fresh();
    MPI_Exscan_c(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(rank == 0 || all[0] == rank * (rank + 1) / 2);
}

static void nonblocking_large(void)
{
    fresh();
    MPI_Ibcast_c(mine, MOST, MPI_INT, 1, MPI_COMM_WORLD, &request);
    complete();
    CHECK(mine[MOST - 1] == 2);
    fresh();
    MPI_Igather_c(mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    complete();
    CHECK(rank != 0 || all[ranks - 1] == ranks);
    fresh();
    MPI_Igatherv_c(mine, 1, MPI_INT, all, counts_c, offsets_c, MPI_INT, 0, MPI_COMM_WORLD, &request);
    complete();
    CHECK(rank != 0 || all[ranks - 1] == ranks);
    fresh();
    MPI_Iscatter_c(mine, 1, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[0] == 2);
    fresh();
    MPI_Iscatterv_c(mine, counts_c, offsets_c, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[0] == 2);
    fresh();
    MPI_Iallgather_c(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Iallgatherv_c(mine, 1, MPI_INT, all, counts_c, offsets_c, MPI_INT, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Ialltoall_c(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Ialltoallv_c(mine, counts_c, offsets_c, MPI_INT, all, counts_c, offsets_c, MPI_INT, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Ialltoallw_c(mine, counts_c, bytes_c, types, all, counts_c, bytes_c, types, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Ireduce_c(mine, all, MOST, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request);
    complete();
    CHECK(rank != 0 || all[MOST - 1] == sum());
    fresh();
    MPI_Iallreduce_c(mine, all, MOST, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[MOST - 1] == sum());
    fresh();
    MPI_Ireduce_scatter_c(mine, all, counts_c, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[0] == sum());
    fresh();
    MPI_Ireduce_scatter_block_c(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[0] == sum());
    fresh();
    MPI_Iscan_c(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    complete();
    CHECK(all[0] == (rank + 1) * (rank + 2) / 2);
    fresh();
    MPI_Iexscan_c(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    complete();
    CHECK(rank == 0 || all[0] == rank * (rank + 1) / 2);
}

static void persistent_large(void)
{
    fresh();
    MPI_Bcast_init_c(mine, MOST, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(mine[MOST - 1] == 2);
    fresh();
    MPI_Gather_init_c(mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(rank != 0 || all[ranks - 1] == ranks);
    fresh();
    MPI_Gatherv_init_c(mine, 1, MPI_INT, all, counts_c, offsets_c, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(rank != 0 || all[ranks - 1] == ranks);
    fresh();
    MPI_Scatter_init_c(mine, 1, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(1);
    CHECK(all[0] == 2);
    fresh();
    MPI_Scatterv_init_c(mine, counts_c, offsets_c, MPI_INT, all, 1, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(1);
    CHECK(all[0] == 2);
    fresh();
    MPI_Allgather_init_c(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Allgatherv_init_c(mine, 1, MPI_INT, all, counts_c, offsets_c, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Alltoall_init_c(mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Alltoallv_init_c(mine, counts_c, offsets_c, MPI_INT, all, counts_c, offsets_c, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Alltoallw_init_c(mine, counts_c, bytes_c, types, all, counts_c, bytes_c, types, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(all[ranks - 1] == ranks);
    fresh();
    MPI_Reduce_init_c(mine, all, MOST, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(rank != 0 || all[MOST - 1] == sum());
    fresh();
    MPI_Allreduce_init_c(mine, all, MOST, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(all[MOST - 1] == sum());
    fresh();
    MPI_Reduce_scatter_init_c(mine, all, counts_c, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(all[0] == sum());
    fresh();
    MPI_Reduce_scatter_block_init_c(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(all[0] == sum());
    fresh();
    MPI_Scan_init_c(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(all[0] == (rank + 1) * (rank + 2) / 2);
    fresh();
    MPI_Exscan_init_c(mine, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
    CHECK(rank == 0 || all[0] == rank * (rank + 1) / 2);
}

#endif

// In place, and where nothing is exchanged.
static void special_arguments(void)
{
    fresh();
    MPI_Allreduce(MPI_IN_PLACE, mine, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(mine[1] == ranks);
    for (int i = 0; i < ranks; i++)
        all[i] = rank + 1;
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, all, counts, bytes, types, MPI_COMM_WORLD);
    CHECK(all[0] == 1);
    MPI_Gatherv(rank == 0 ? MPI_IN_PLACE : mine, 1, MPI_INT, all, rank == 0 ? counts : NULL, rank == 0 ? offsets : NULL, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    complete();
#if MPI_VERSION >= 4
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    repeat(2);
#endif
}

// last keeps the right operand: associative, not commutative.
static void last(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    (void)in;
    for (int i = 0; i < *length; i++)
        ((int *)inout)[i] = ((int *)inout)[i];
}

#if MPI_VERSION >= 4
static void last_large(void *in, void *inout, MPI_Count *length, MPI_Datatype *type)
{
    (void)type;
    (void)in;
    (void)inout;
    CHECK(*length > 0);
}
#endif

static void operations(void)
{
    MPI_Op op;
    int commutes, one = 1, two = 2;

    MPI_Op_create(last, 0, &op);
    MPI_Op_commutative(op, &commutes);
    CHECK(!commutes);
    fresh();
    MPI_Allreduce(mine, all, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(all[0] == ranks);
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
    MPI_Reduce_local(&one, &two, 1, MPI_INT, MPI_SUM);
    CHECK(two == 3);
#if MPI_VERSION >= 4
    MPI_Op_create_c(last_large, 1, &op);
    MPI_Op_commutative(op, &commutes);
    CHECK(commutes);
    MPI_Reduce_local_c(&one, &two, 1, MPI_INT, MPI_SUM);
    CHECK(two == 4);
    MPI_Op_free(&op);
#endif
}

int main(void)
{
    begin();
    for (int i = 0; i < MOST; i++) {
        counts[i] = 1;
        offsets[i] = i;
        bytes[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
#if MPI_VERSION >= 4
        counts_c[i] = counts[i];
        offsets_c[i] = offsets[i];
        bytes_c[i] = bytes[i];
#endif
    }
    blocking();
    nonblocking();
#if MPI_VERSION >= 4
    persistent();
    blocking_large();
    nonblocking_large();
    persistent_large();
#endif
    special_arguments();
    operations();
    return end();
}
