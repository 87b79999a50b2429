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

// work makes of a plane what is passed on, of what the neighbors before it made.
static int work(int step, long plane, const int in[2])
{
    int distance = 1, value = 1 + (in[0] > in[1] ? in[0] : in[1]);
    for (int d = 0; d < 2; d++)
        distance += step > 0 ? coords[d] : dims[d] - 1 - coords[d];
    check(value == distance, "plane %ld: %d at distance %d", plane, value, distance);
    compute_us(work_us);
    return value;
}

// Like LU, a rank makes no call where it has no neighbor. A call site is a line of the source, so each neighbor has lines of
// its own, forth and back.
NAMED static void forth(void)
{
    for (long plane = 0; plane < planes; plane++) {
        int in[2] = {0, 0};
        if (neighbor(0, -1) != MPI_PROC_NULL)
            MPI_Recv(&in[0], 1, MPI_INT, neighbor(0, -1), FORTH, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (neighbor(1, -1) != MPI_PROC_NULL)
            MPI_Recv(&in[1], 1, MPI_INT, neighbor(1, -1), FORTH, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int out = work(1, plane, in);
        if (neighbor(0, 1) != MPI_PROC_NULL)
            MPI_Send(&out, 1, MPI_INT, neighbor(0, 1), FORTH, MPI_COMM_WORLD);
        if (neighbor(1, 1) != MPI_PROC_NULL)
            MPI_Send(&out, 1, MPI_INT, neighbor(1, 1), FORTH, MPI_COMM_WORLD);
    }
}

NAMED static void back(void)
{
    for (long plane = 0; plane < planes; plane++) {
        int in[2] = {0, 0};
        if (neighbor(0, 1) != MPI_PROC_NULL)
            MPI_Recv(&in[0], 1, MPI_INT, neighbor(0, 1), BACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (neighbor(1, 1) != MPI_PROC_NULL)
            MPI_Recv(&in[1], 1, MPI_INT, neighbor(1, 1), BACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int out = work(-1, plane, in);
        if (neighbor(0, -1) != MPI_PROC_NULL)
            MPI_Send(&out, 1, MPI_INT, neighbor(0, -1), BACK, MPI_COMM_WORLD);
        if (neighbor(1, -1) != MPI_PROC_NULL)
            MPI_Send(&out, 1, MPI_INT, neighbor(1, -1), BACK, MPI_COMM_WORLD);
    }
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
