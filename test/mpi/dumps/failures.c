// SPDX-License-Identifier: Apache-2.0
// Error handlers, and a call that fails: it has no outputs.
#include <mpi.h>
#include <stddef.h>

int main(void)
{
    int rank, class;
    MPI_Errhandler handler;
    MPI_Request requests[1];
    MPI_Status status;
    int x[2] = {0, 0}, y;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    MPI_Irecv(&y, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, requests);
    MPI_Send(x, 2, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
    MPI_Error_class(MPI_Waitall(1, requests, &status), &class);
    MPI_Irecv(&y, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, requests);
    MPI_Send(x, 2, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
    MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
