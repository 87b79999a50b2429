// SPDX-License-Identifier: Apache-2.0
// One-sided communication in all three ways to synchronize.
#include <mpi.h>
#include <stddef.h>

int main(void)
{
    int rank, x = 1, y, z = 0, memory[4] = {0};
    MPI_Win win;
    MPI_Group all, one;
    MPI_Request request;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int there = 1 - rank;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(&x, 1, MPI_INT, there, 2, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &there, &one);
    MPI_Win_post(one, 0, win);
    MPI_Win_start(one, 0, win);
    MPI_Accumulate(&x, 1, MPI_INT, there, 1, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Win_lock(MPI_LOCK_SHARED, there, 0, win);
    MPI_Compare_and_swap(&x, &z, &y, MPI_INT, there, 3, win);
    MPI_Win_unlock(there, win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
