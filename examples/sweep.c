// SPDX-License-Identifier: Apache-2.0
// Pipelined sweeps over a grid of ranks, forth and back, plane by plane, as NPB LU makes them: a rank works on a plane when
// it has what its neighbors before it in both dimensions make of the plane. There is no collective in the time loop.
//
//   --iterations N  each a sweep forth and one back, default 20
//   --planes K      of a sweep, default 8
//   --work-us U     on a plane, default 100
//   --mark          each iteration ends with MPI_Pcontrol(100)
//
// Known beforehand:
//   Result      where a front began it is 1, and every rank adds 1 to the greatest that it receives.
//   Topology    a grid of MPI_Dims_create's shape.
//   Clusters    by where in the grid a rank is: corners, edges, inside, so 9 in a grid of 3 x 3 or more.
//   Wait states late senders: ranks far from the corner wait for the front to arrive, once in each direction.
#include "common.h"

enum { FORTH = 1, BACK = 2 };

static long iterations = 20, planes = 8, work_us = 100;
static bool mark;

static const struct option options[] = {
    {"--iterations", "sweeps forth and back", .number = &iterations},
    {"--planes", "planes of a sweep", .number = &planes},
    {"--work-us", "microseconds of work on a plane", .number = &work_us},
    {"--mark", "mark iterations", .flag = &mark},
    {0},
};

static int dims[2], coords[2];

// neighbor is the rank that many steps away in a dimension, MPI_PROC_NULL beyond the edge.
static int neighbor(int dimension, int steps)
{
    int at[2] = {coords[0], coords[1]};
    at[dimension] += steps;
    if (at[dimension] < 0 || at[dimension] >= dims[dimension])
        return MPI_PROC_NULL;
    return at[0] * dims[1] + at[1];
}

// Each call below is a call site of its own in forth and in back.
#define INLINE __attribute__((always_inline)) static inline

// receive takes what the neighbor before made of a plane; like LU, it makes no call where there is none.
INLINE int receive(int from, int tag)
{
    int value = 0;
    if (from != MPI_PROC_NULL)
        MPI_Recv(&value, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return value;
}

INLINE void pass_on(int value, int to, int tag)
{
    if (to != MPI_PROC_NULL)
        MPI_Send(&value, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

INLINE void sweep(int step, int tag)
{
    int distance = 1;
    for (int d = 0; d < 2; d++)
        distance += step > 0 ? coords[d] : dims[d] - 1 - coords[d];
    for (long plane = 0; plane < planes; plane++) {
        int north = receive(neighbor(0, -step), tag), west = receive(neighbor(1, -step), tag);
        int value = 1 + (north > west ? north : west);
        check(value == distance, "plane %ld: %d at distance %d", plane, value, distance);
        sleep_us(work_us);
        pass_on(value, neighbor(0, step), tag);
        pass_on(value, neighbor(1, step), tag);
    }
}

NAMED static void forth(void)
{
    sweep(1, FORTH);
}

NAMED static void back(void)
{
    sweep(-1, BACK);
}

int main(int argc, char **argv)
{
    begin(argc, argv, options);
    MPI_Dims_create(ranks, 2, dims);
    coords[0] = rank / dims[1];
    coords[1] = rank % dims[1];
    for (long i = 0; i < iterations; i++) {
        forth();
        back();
        if (mark)
            MPI_Pcontrol(100);
    }
    if (rank == 0)
        say("sweep: %d x %d ranks, %ld iterations", dims[0], dims[1], iterations);
    return end();
}
