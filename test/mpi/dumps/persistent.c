// SPDX-License-Identifier: Apache-2.0
// Two ranks; persistent and (MPI 4.0) partitioned requests from creation to the end.
#include <mpi.h>
#include <stddef.h>

int main(void)
{
    int rank, x[4] = {0};
    MPI_Request requests[2];

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Recv_init(&x[0], 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&x[1], 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Start(&requests[1]);
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[1]);
    MPI_Request_free(&requests[0]);
#if MPI_VERSION >= 4
    if (rank == 0) {
        int last[] = {3};
        MPI_Psend_init(x, 4, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
        MPI_Start(&requests[0]);
        MPI_Pready(0, requests[0]);
        MPI_Pready_range(1, 2, requests[0]);
        MPI_Pready_list(1, last, requests[0]);
    } else {
        MPI_Precv_init(x, 4, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
        MPI_Start(&requests[0]);
    }
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[0]);
#endif
    MPI_Finalize();
    return 0;
}
