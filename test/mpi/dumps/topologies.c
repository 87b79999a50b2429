// SPDX-License-Identifier: Apache-2.0
// Two ranks; topologies, and neighborhood collectives on them.
#include <mpi.h>
#include <stddef.h>

int main(void)
{
    int rank, dims[2] = {2, 1}, periods[2] = {1, 0}, coords[2], source, destination, in, out, weighted, x[4] = {0}, y[4];
    MPI_Comm grid, graph;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_coords(grid, 1, 2, coords);
    MPI_Cart_shift(grid, 1, 1, &source, &destination);
    MPI_Neighbor_alltoall(x, 1, MPI_INT, y, 1, MPI_INT, grid);
    int there = 1 - rank, count = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &there, MPI_UNWEIGHTED, 1, &there, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    MPI_Neighbor_allgatherv(x, 1, MPI_INT, y, &count, &count, MPI_INT, graph);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
