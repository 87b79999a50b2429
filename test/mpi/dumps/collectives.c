// SPDX-License-Identifier: Apache-2.0
// Two ranks; arguments that count at the root only, or not at all, do not stand in the trace.
#include <mpi.h>
#include <stddef.h>

int main(void)
{
    int rank, x[2] = {1, 2}, y[2], counts[2] = {1, 1}, offsets[2] = {1, 0};
    MPI_Request request;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(x, 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Gatherv(x, 1, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, 1, MPI_COMM_WORLD);
    else
        MPI_Gatherv(x, 1, MPI_INT, y, counts, offsets, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Reduce(x, y, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, x, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Alltoallv(x, counts, offsets, MPI_INT, y, counts, offsets, MPI_INT, MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
