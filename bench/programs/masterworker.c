// SPDX-License-Identifier: Apache-2.0
// Rank 0 hands out TASKS tasks a worker: it waits with MPI_Waitany for one of a receive from each worker, and at the end
// takes what is left with MPI_ANY_SOURCE.
#include <mpi.h>
#include <stdlib.h>

enum { TASK = 1, STOP, RESULT, BYE };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size, tasks = atoi(argv[1]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int workers = size - 1;
    if (rank == 0) {
        MPI_Request *requests = malloc(sizeof *requests * workers);
        int *results = malloc(sizeof *results * workers), left = workers * tasks, task = 0, open = 0;
        for (int w = 0; w < workers; w++) {
            MPI_Irecv(&results[w], 1, MPI_INT, w + 1, RESULT, MPI_COMM_WORLD, &requests[w]);
            MPI_Send(&task, 1, MPI_INT, w + 1, TASK, MPI_COMM_WORLD);
            left--, open++;
        }
        while (open > 0) {
            int w;
            MPI_Status status;
            MPI_Waitany(workers, requests, &w, &status);
            open--;
            MPI_Send(&task, 1, MPI_INT, w + 1, left > 0 ? TASK : STOP, MPI_COMM_WORLD);
            if (left > 0) {
                MPI_Irecv(&results[w], 1, MPI_INT, w + 1, RESULT, MPI_COMM_WORLD, &requests[w]);
                left--, open++;
            }
        }
        for (int w = 0; w < workers; w++)
            MPI_Recv(&task, 1, MPI_INT, MPI_ANY_SOURCE, BYE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        for (;;) {
            int task;
            MPI_Status status;
            MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            if (status.MPI_TAG == STOP)
                break;
            MPI_Send(&task, 1, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
        }
        MPI_Send(&rank, 1, MPI_INT, 0, BYE, MPI_COMM_WORLD);
    }
    MPI_Finalize();
}
