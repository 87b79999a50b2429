// SPDX-License-Identifier: Apache-2.0
// Halo exchange on a grid of ranks without MPI's topologies: Irecv from and Isend to each neighbor, then Waitall.
//   stencil DIMENSIONS PERIODIC ITERATIONS       (2 0: 5-point stencil with MPI_PROC_NULL at the ends; 3 1: 7-point)
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int dimensions = atoi(argv[1]), periodic = atoi(argv[2]), iterations = atoi(argv[3]);
    int rank, size, extents[3] = {0}, neighbors[6], count = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, dimensions, extents);
    for (int d = 0, stride = size; d < dimensions; d++) {
        stride /= extents[d];
        int at = rank / stride % extents[d];
        for (int by = -1; by <= 1; by += 2) {
            int to = at + by, wrapped = (to + extents[d]) % extents[d];
            neighbors[count++] = to == wrapped || periodic ? rank + (wrapped - at) * stride : MPI_PROC_NULL;
        }
    }
    double in[6], out[6];
    for (int i = 0; i < iterations; i++) {
        MPI_Request requests[12];
        for (int k = 0; k < count; k++) {
            MPI_Irecv(&in[k], 1, MPI_DOUBLE, neighbors[k], 0, MPI_COMM_WORLD, &requests[2 * k]);
            MPI_Isend(&out[k], 1, MPI_DOUBLE, neighbors[k], 0, MPI_COMM_WORLD, &requests[2 * k + 1]);
        }
        MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
}
