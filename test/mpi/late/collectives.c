// SPDX-License-Identifier: Apache-2.0
// Every collective operation, blocking, non-blocking and persistent, with one rank late for it by a known time: who waits
// for whom, and how long, follows from what the operation means. For four ranks.
//
// Known beforehand, for each use of LATE, and printed as "expect LINE SECONDS KIND": the wait state, and what all ranks
// wait together in it, at least, if nothing but the nap keeps anybody busy: rounds x nap x those who wait.
//   all to all, barrier    everybody but the late rank
//   one to all             everybody but the root, which is late
//   all to one             the root; another rank is late
//   prefix                 everybody behind rank 0, which is late
//   neighbors             the two neighbors of the late rank on a ring
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { RANKS = 4, ROUNDS = 3, NAP_MS = 30 };

static int rank;
static int in[RANKS], out[RANKS];
static int ones[RANKS] = {1, 1, 1, 1}, places[RANKS] = {0, 1, 2, 3}, bytes[RANKS] = {0, 4, 8, 12};
static MPI_Aint addresses[RANKS] = {0, 4, 8, 12};
static MPI_Datatype types[RANKS];
static MPI_Comm ring;
static MPI_Request request;

static __attribute__((noinline)) void together(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = NAP_MS * 1000000L}, NULL);
}

static void expect(int line, const char *kind, int waiting)
{
    if (rank == 0)
        printf("expect %d %g %s\n", line, ROUNDS * NAP_MS * 1e-3 * waiting, kind);
}

// LATE makes a call in which so many ranks wait for the late one. It has to stand on one line: that is its call site.
#define LATE(kind, waiting, late, ...) \
    do { \
        expect(__LINE__, kind, waiting); \
        for (int round = 0; round < ROUNDS; round++) { \
            together(); \
            if (rank == late) \
                nap(); \
            __VA_ARGS__; \
        } \
    } while (0)

#define NXN(...) LATE("wait at NxN", RANKS - 1, 2, __VA_ARGS__)
#define BARRIER(...) LATE("wait at barrier", RANKS - 1, 1, __VA_ARGS__)
#define ROOT(...) LATE("late broadcast", RANKS - 1, 1, __VA_ARGS__)    // of rank 1
#define TO_ROOT(...) LATE("early reduce", 1, 3, __VA_ARGS__)           // rank 1
#define PREFIX(...) LATE("early scan", RANKS - 1, 0, __VA_ARGS__)
#define NEIGHBOR(...) LATE("wait at neighborhood collective", 2, 0, __VA_ARGS__)

static void blocking(void)
{
    const MPI_Comm world = MPI_COMM_WORLD;
    BARRIER(MPI_Barrier(world));
    ROOT(MPI_Bcast(out, 1, MPI_INT, 1, world));
    ROOT(MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, 1, world));
    ROOT(MPI_Scatterv(in, ones, places, MPI_INT, out, 1, MPI_INT, 1, world));
    TO_ROOT(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 1, world));
    TO_ROOT(MPI_Gatherv(in, 1, MPI_INT, out, ones, places, MPI_INT, 1, world));
    TO_ROOT(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, 1, world));
    NXN(MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, world));
    NXN(MPI_Allgatherv(in, 1, MPI_INT, out, ones, places, MPI_INT, world));
    NXN(MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, world));
    NXN(MPI_Alltoallv(in, ones, places, MPI_INT, out, ones, places, MPI_INT, world));
    NXN(MPI_Alltoallw(in, ones, bytes, types, out, ones, bytes, types, world));
    NXN(MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, world));
    NXN(MPI_Reduce_scatter(in, out, ones, MPI_INT, MPI_SUM, world));
    NXN(MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, world));
    PREFIX(MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, world));
    PREFIX(MPI_Exscan(in, out, 1, MPI_INT, MPI_SUM, world));
    NEIGHBOR(MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, ring));
    NEIGHBOR(MPI_Neighbor_allgatherv(in, 1, MPI_INT, out, ones, places, MPI_INT, ring));
    NEIGHBOR(MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, ring));
    NEIGHBOR(MPI_Neighbor_alltoallv(in, ones, places, MPI_INT, out, ones, places, MPI_INT, ring));
    NEIGHBOR(MPI_Neighbor_alltoallw(in, ones, addresses, types, out, ones, addresses, types, ring));
}

#define WAIT MPI_Wait(&request, MPI_STATUS_IGNORE)

static void nonblocking(void)
{
    const MPI_Comm world = MPI_COMM_WORLD;
    BARRIER(MPI_Ibarrier(world, &request), WAIT);
    ROOT(MPI_Ibcast(out, 1, MPI_INT, 1, world, &request), WAIT);
    ROOT(MPI_Iscatter(in, 1, MPI_INT, out, 1, MPI_INT, 1, world, &request), WAIT);
    ROOT(MPI_Iscatterv(in, ones, places, MPI_INT, out, 1, MPI_INT, 1, world, &request), WAIT);
    TO_ROOT(MPI_Igather(in, 1, MPI_INT, out, 1, MPI_INT, 1, world, &request), WAIT);
    TO_ROOT(MPI_Igatherv(in, 1, MPI_INT, out, ones, places, MPI_INT, 1, world, &request), WAIT);
    TO_ROOT(MPI_Ireduce(in, out, 1, MPI_INT, MPI_SUM, 1, world, &request), WAIT);
    NXN(MPI_Iallgather(in, 1, MPI_INT, out, 1, MPI_INT, world, &request), WAIT);
    NXN(MPI_Iallgatherv(in, 1, MPI_INT, out, ones, places, MPI_INT, world, &request), WAIT);
    NXN(MPI_Ialltoall(in, 1, MPI_INT, out, 1, MPI_INT, world, &request), WAIT);
    NXN(MPI_Ialltoallv(in, ones, places, MPI_INT, out, ones, places, MPI_INT, world, &request), WAIT);
    NXN(MPI_Ialltoallw(in, ones, bytes, types, out, ones, bytes, types, world, &request), WAIT);
    NXN(MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, world, &request), WAIT);
    NXN(MPI_Ireduce_scatter(in, out, ones, MPI_INT, MPI_SUM, world, &request), WAIT);
    NXN(MPI_Ireduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, world, &request), WAIT);
    PREFIX(MPI_Iscan(in, out, 1, MPI_INT, MPI_SUM, world, &request), WAIT);
    PREFIX(MPI_Iexscan(in, out, 1, MPI_INT, MPI_SUM, world, &request), WAIT);
    NEIGHBOR(MPI_Ineighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, ring, &request), WAIT);
    NEIGHBOR(MPI_Ineighbor_allgatherv(in, 1, MPI_INT, out, ones, places, MPI_INT, ring, &request), WAIT);
    NEIGHBOR(MPI_Ineighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, ring, &request), WAIT);
    NEIGHBOR(MPI_Ineighbor_alltoallv(in, ones, places, MPI_INT, out, ones, places, MPI_INT, ring, &request), WAIT);
    NEIGHBOR(MPI_Ineighbor_alltoallw(in, ones, addresses, types, out, ones, addresses, types, ring, &request), WAIT);
}

#if MPI_VERSION >= 4
// Made anew each time: some of MPICH 4.0's (MPI_Scatter_init) fail when they are started again.
#define ANEW(init, pattern) pattern(init, MPI_Start(&request), WAIT, MPI_Request_free(&request))

static void persistent(void)
{
    const MPI_Comm world = MPI_COMM_WORLD;
    const MPI_Info none = MPI_INFO_NULL;
    ANEW(MPI_Barrier_init(world, none, &request), BARRIER);
    ANEW(MPI_Bcast_init(out, 1, MPI_INT, 1, world, none, &request), ROOT);
    ANEW(MPI_Scatter_init(in, 1, MPI_INT, out, 1, MPI_INT, 1, world, none, &request), ROOT);
    ANEW(MPI_Scatterv_init(in, ones, places, MPI_INT, out, 1, MPI_INT, 1, world, none, &request), ROOT);
    ANEW(MPI_Gather_init(in, 1, MPI_INT, out, 1, MPI_INT, 1, world, none, &request), TO_ROOT);
    ANEW(MPI_Gatherv_init(in, 1, MPI_INT, out, ones, places, MPI_INT, 1, world, none, &request), TO_ROOT);
    ANEW(MPI_Reduce_init(in, out, 1, MPI_INT, MPI_SUM, 1, world, none, &request), TO_ROOT);
    ANEW(MPI_Allgather_init(in, 1, MPI_INT, out, 1, MPI_INT, world, none, &request), NXN);
    ANEW(MPI_Allgatherv_init(in, 1, MPI_INT, out, ones, places, MPI_INT, world, none, &request), NXN);
    ANEW(MPI_Alltoall_init(in, 1, MPI_INT, out, 1, MPI_INT, world, none, &request), NXN);
    ANEW(MPI_Alltoallv_init(in, ones, places, MPI_INT, out, ones, places, MPI_INT, world, none, &request), NXN);
    ANEW(MPI_Alltoallw_init(in, ones, bytes, types, out, ones, bytes, types, world, none, &request), NXN);
    ANEW(MPI_Allreduce_init(in, out, 1, MPI_INT, MPI_SUM, world, none, &request), NXN);
    ANEW(MPI_Reduce_scatter_init(in, out, ones, MPI_INT, MPI_SUM, world, none, &request), NXN);
    ANEW(MPI_Reduce_scatter_block_init(in, out, 1, MPI_INT, MPI_SUM, world, none, &request), NXN);
    ANEW(MPI_Scan_init(in, out, 1, MPI_INT, MPI_SUM, world, none, &request), PREFIX);
    ANEW(MPI_Exscan_init(in, out, 1, MPI_INT, MPI_SUM, world, none, &request), PREFIX);
    ANEW(MPI_Neighbor_allgather_init(in, 1, MPI_INT, out, 1, MPI_INT, ring, none, &request), NEIGHBOR);
    ANEW(MPI_Neighbor_allgatherv_init(in, 1, MPI_INT, out, ones, places, MPI_INT, ring, none, &request), NEIGHBOR);
    ANEW(MPI_Neighbor_alltoall_init(in, 1, MPI_INT, out, 1, MPI_INT, ring, none, &request), NEIGHBOR);
    ANEW(MPI_Neighbor_alltoallv_init(in, ones, places, MPI_INT, out, ones, places, MPI_INT, ring, none, &request), NEIGHBOR);
    ANEW(MPI_Neighbor_alltoallw_init(in, ones, addresses, types, out, ones, addresses, types, ring, none, &request), NEIGHBOR);
}
#endif

int main(int argc, char **argv)
{
    int size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != RANKS) {
        fprintf(stderr, "for %d ranks, not %d\n", RANKS, size);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int i = 0; i < RANKS; i++)
        types[i] = MPI_INT;
    MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){RANKS}, (int[]){1}, 0, &ring);
    blocking();
    nonblocking();
#if MPI_VERSION >= 4
    persistent();
#endif
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
