// SPDX-License-Identifier: Apache-2.0
// Two ranks; what the trace has to say of each call stands in messages.dump.
#include <mpi.h>
#include <stddef.h>

int main(void)
{
    int rank, x = 3, y, flag;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Send(&x, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
        MPI_Isend(&x, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &status);
        MPI_Ssend(&x, 0, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &y);
        MPI_Mprobe(0, 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(&y, 1, MPI_INT, &message, &status);
        MPI_Irecv(&y, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, &request);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        MPI_Cancel(&request);
        MPI_Request_free(&request);
    }
    MPI_Finalize();
    return 0;
}
