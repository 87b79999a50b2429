// SPDX-License-Identifier: Apache-2.0
// One rank, argument 1, is late by 50 ms for each of many collective operations, of small and of large data. Inside them
// ranks wait for it in the middle of trees, which both MPIs choose by size and number of ranks; a barrier after each makes
// whoever leaves late the next one that others wait for. Known: all the time that is lost is the late rank's. It is printed
// as "planted SECONDS".
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RANKS = 16, NAP_MS = 50, LARGE = 1 << 15, ROOT = 0 };

static int rank, size, late;
static double planted;
static int in[RANKS * LARGE], out[RANKS * LARGE], counts[RANKS], places[RANKS];

static void nap(void)
{
    if (rank == late)
        nanosleep(&(struct timespec){.tv_nsec = NAP_MS * 1000000L}, NULL);
    planted += NAP_MS * 1e-3;
}

#define LATE(...) \
    do { \
        nap(); \
        __VA_ARGS__; \
        MPI_Barrier(MPI_COMM_WORLD); \
    } while (0)

static void all(int n)
{
    const MPI_Comm world = MPI_COMM_WORLD;
    for (int i = 0; i < size; i++) {
        counts[i] = n;
        places[i] = i * n;
    }
    LATE(MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, ROOT, world));
    LATE(MPI_Gatherv(in, n, MPI_INT, out, counts, places, MPI_INT, ROOT, world));
    LATE(MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, ROOT, world));
    LATE(MPI_Bcast(out, n, MPI_INT, ROOT, world));
    LATE(MPI_Scatter(in, n, MPI_INT, out, n, MPI_INT, ROOT, world));
    LATE(MPI_Scatterv(in, counts, places, MPI_INT, out, n, MPI_INT, ROOT, world));
    LATE(MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, world));
    LATE(MPI_Barrier(world));
    LATE(MPI_Scan(in, out, n, MPI_INT, MPI_SUM, world));
    LATE(MPI_Exscan(in, out, n, MPI_INT, MPI_SUM, world));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    late = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 2; round++) {
        all(1);
        all(LARGE);
    }
    if (rank == 0)
        printf("planted %g\n", planted);
    MPI_Finalize();
    return 0;
}
