// SPDX-License-Identifier: Apache-2.0
// Cartesian, graph and distributed graph topologies and what they are asked. Two ranks.
#include "family.h"

static void cartesian(void)
{
    int dims[2] = {0, 1}, periods[2] = {1, 0}, remain[2] = {1, 0};
    int ndims, coords[2], other, source, destination, status, got_dims[2], got_periods[2];
    MPI_Comm grid, row;

    MPI_Dims_create(ranks, 2, dims);
    CHECK(dims[0] == ranks && dims[1] == 1);
    MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &other);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Topo_test(grid, &status);
    CHECK(status == MPI_CART);
    MPI_Cartdim_get(grid, &ndims);
    CHECK(ndims == 2);
    MPI_Cart_get(grid, 2, got_dims, got_periods, coords);
    CHECK(got_dims[0] == ranks && got_periods[0] && !got_periods[1] && coords[0] == rank);
    MPI_Cart_coords(grid, 1, 2, coords);
    CHECK(coords[0] == 1 && coords[1] == 0);
    MPI_Cart_rank(grid, coords, &other);
    CHECK(other == 1);
    MPI_Cart_shift(grid, 0, 1, &source, &destination);
    CHECK(source == destination && source == 1 - rank);
    MPI_Cart_shift(grid, 1, 1, &source, &destination);
    CHECK(source == MPI_PROC_NULL && destination == MPI_PROC_NULL);
    MPI_Cart_sub(grid, remain, &row);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
}

static void graph(void)
{
    int index[2] = {1, 2}, edges[2] = {1, 0};
    int nodes, n, other, got_index[2], got_edges[2];
    MPI_Comm comm;

    MPI_Graph_map(MPI_COMM_WORLD, 2, index, edges, &other);
    MPI_Graph_create(MPI_COMM_WORLD, 2, index, edges, 0, &comm);
    MPI_Graphdims_get(comm, &nodes, &n);
    CHECK(nodes == 2 && n == 2);
    MPI_Graph_get(comm, 2, 2, got_index, got_edges);
    CHECK(got_index[1] == 2 && got_edges[0] == 1);
    MPI_Graph_neighbors_count(comm, 1, &n);
    CHECK(n == 1);
    MPI_Graph_neighbors(comm, 1, 1, &other);
    CHECK(other == 0);
    MPI_Comm_free(&comm);
}

static void distributed(void)
{
    int there = 1 - rank, in, out, weighted, sources[2], destinations[2], in_weights[2], out_weights[2];
    int degree = 1, weight = 7;
    MPI_Comm comm;

    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, &there, &weight, MPI_INFO_NULL, 0, &comm);
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    CHECK(in == 1 && out == 1 && weighted);
    MPI_Dist_graph_neighbors(comm, 1, sources, in_weights, 1, destinations, out_weights);
    CHECK(sources[0] == there && destinations[0] == there && in_weights[0] == 7);
    MPI_Comm_free(&comm);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &there, MPI_UNWEIGHTED, 1, &there, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    MPI_Comm_free(&comm);
}

int main(void)
{
    begin();
    cartesian();
    graph();
    distributed();
    return end();
}
