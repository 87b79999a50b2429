// SPDX-License-Identifier: Apache-2.0
// Virtual topologies: a torus with its rows, a ring as a graph, and a directed ring with distances 1 and 2; neighbors
// are asked for and then talked to with neighborhood collectives, blocking and non-blocking.
//
//   --rounds N  exchanges per topology, default 2
//
// Known beforehand:
//   Topology  the torus has MPI_Dims_create's shape and wraps around in both dimensions; the graphs are rings.
//   Results   from each neighbor arrives 100 times its rank (and the position for alltoall).
//   Clusters  one per topology: all ranks make the same calls with relative neighbors.
#include "common.h"

static long rounds = 2;

static const struct option options[] = {{"--rounds", "exchanges per topology", .number = &rounds}, {0}};

enum { MOST = 4 };

// allgather sends this rank's number to all neighbors and checks theirs.
NAMED static void allgather(MPI_Comm comm, int me, int n, const int *from)
{
    int mine = 100 * me, got[MOST], again[MOST], ones[MOST], places[MOST];
    MPI_Request request;
    for (int i = 0; i < MOST; i++) {
        got[i] = again[i] = -1;
        ones[i] = 1;
        places[i] = n - 1 - i;
    }
    MPI_Neighbor_allgather(&mine, 1, MPI_INT, got, 1, MPI_INT, comm);
    MPI_Ineighbor_allgatherv(&mine, 1, MPI_INT, again, ones, places, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) {
        check(got[i] == 100 * from[i], "allgather: %d from %d", got[i], from[i]);
        check(again[places[i]] == 100 * from[i], "allgatherv: %d from %d", again[places[i]], from[i]);
    }
}

// alltoall sends each neighbor the same number through three functions, which differ in how they are told.
NAMED static void alltoall(MPI_Comm comm, int me, int n, const int *from)
{
    int mine[MOST], got[3][MOST], ones[MOST], places[MOST];
    MPI_Aint bytes[MOST];
    MPI_Datatype types[MOST];
    MPI_Request requests[2];
    for (int i = 0; i < MOST; i++) {
        got[0][i] = got[1][i] = got[2][i] = -1;
        mine[i] = i < n ? 100 * me : -2;
        ones[i] = 1;
        places[i] = i;
        bytes[i] = i * sizeof(int);
        types[i] = MPI_INT;
    }
    MPI_Neighbor_alltoall(mine, 1, MPI_INT, got[0], 1, MPI_INT, comm);
    MPI_Ineighbor_alltoallv(mine, ones, places, MPI_INT, got[1], ones, places, MPI_INT, comm, &requests[0]);
    MPI_Ineighbor_alltoallw(mine, ones, bytes, types, got[2], ones, bytes, types, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int form = 0; form < 3; form++)
        for (int i = 0; i < n; i++)
            check(got[form][i] == 100 * from[i], "alltoall %d: %d from %d", form, got[form][i], from[i]);
}

static void exchange(MPI_Comm comm, int me, int n, const int *from)
{
    for (long k = 0; k < rounds; k++) {
        allgather(comm, me, n, from);
        alltoall(comm, me, n, from);
    }
}

NAMED static void torus(void)
{
    MPI_Comm comm, row;
    int dims[2] = {0, 0}, periods[2] = {1, 1}, coords[2], got_dims[2], got_periods[2], keep[2] = {0, 1};
    int n, kind, back, mapped, from[4];
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &mapped);
    check(mapped >= 0 && mapped < ranks, "mapped to %d", mapped);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    MPI_Topo_test(comm, &kind);
    check(kind == MPI_CART, "topology %d", kind);
    MPI_Cartdim_get(comm, &n);
    check(n == 2, "%d dimensions", n);
    MPI_Cart_get(comm, 2, got_dims, got_periods, coords);
    check(got_dims[0] == dims[0] && got_periods[1] == 1, "the torus is %d x %d", got_dims[0], got_dims[1]);
    MPI_Cart_rank(comm, coords, &back);
    check(back == rank, "coordinates %d, %d are of rank %d", coords[0], coords[1], back);
    MPI_Cart_coords(comm, ranks - 1, 2, coords);
    check(coords[0] == dims[0] - 1 && coords[1] == dims[1] - 1, "the last rank is at %d, %d", coords[0], coords[1]);
    MPI_Cart_shift(comm, 0, 1, &from[0], &from[1]);
    MPI_Cart_shift(comm, 1, 1, &from[2], &from[3]);
    exchange(comm, rank, 4, from);

    int size, column;
    MPI_Cart_sub(comm, keep, &row);
    MPI_Comm_size(row, &size);
    MPI_Comm_rank(row, &column);
    check(size == dims[1] && column == rank % dims[1], "rank %d of %d in its row", column, size);
    MPI_Cart_shift(row, 0, 1, &from[0], &from[1]);
    exchange(row, column, 2, from);
    MPI_Comm_free(&row);
    MPI_Comm_free(&comm);
}

// graph_ring tells every rank the whole graph: each is connected with the one before and the one after.
NAMED static void graph_ring(void)
{
    MPI_Comm comm;
    int *index = malloc(ranks * sizeof(int)), *edges = malloc(2 * ranks * sizeof(int));
    int *got_index = malloc(ranks * sizeof(int)), *got_edges = malloc(2 * ranks * sizeof(int));
    int nodes, n_edges, n, neighbors[2];
    for (int r = 0; r < ranks; r++) {
        index[r] = 2 * (r + 1);
        edges[2 * r] = (r + ranks - 1) % ranks;
        edges[2 * r + 1] = (r + 1) % ranks;
    }
    MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &comm);
    MPI_Graphdims_get(comm, &nodes, &n_edges);
    check(nodes == ranks && n_edges == 2 * ranks, "a graph of %d nodes and %d edges", nodes, n_edges);
    MPI_Graph_get(comm, ranks, 2 * ranks, got_index, got_edges);
    check(memcmp(edges, got_edges, 2 * ranks * sizeof(int)) == 0, "other edges");
    MPI_Graph_neighbors_count(comm, rank, &n);
    MPI_Graph_neighbors(comm, rank, 2, neighbors);
    check(n == 2 && neighbors[0] == edges[2 * rank] && neighbors[1] == edges[2 * rank + 1], "neighbors %d, %d", neighbors[0], neighbors[1]);
    exchange(comm, rank, 2, neighbors);
    MPI_Comm_free(&comm);
    free(index);
    free(edges);
    free(got_index);
    free(got_edges);
}

// directed sends to the next rank and the one after it; adjacent says whether each rank tells its own edges.
NAMED static void directed(bool adjacent)
{
    MPI_Comm comm;
    int from[2] = {(rank + ranks - 1) % ranks, (rank + 2 * ranks - 2) % ranks};
    int to[2] = {(rank + 1) % ranks, (rank + 2) % ranks};
    int weights[2] = {10, 20}, n_from, n_to, weighted;
    int got_from[2], got_to[2], from_weights[2], to_weights[2];
    if (adjacent) {
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, weights, 2, to, weights, MPI_INFO_NULL, 0, &comm);
    } else {
        int me[1] = {rank}, degree[1] = {2};
        MPI_Dist_graph_create(MPI_COMM_WORLD, 1, me, degree, to, weights, MPI_INFO_NULL, 0, &comm);
    }
    MPI_Dist_graph_neighbors_count(comm, &n_from, &n_to, &weighted);
    check(n_from == 2 && n_to == 2 && weighted, "%d sources and %d destinations", n_from, n_to);
    MPI_Dist_graph_neighbors(comm, 2, got_from, from_weights, 2, got_to, to_weights);
    check(got_from[0] + got_from[1] == from[0] + from[1] && from_weights[0] + from_weights[1] == 30, "sources %d, %d", got_from[0], got_from[1]);
    exchange(comm, rank, 2, got_from);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    begin(argc, argv, options);
    torus();
    graph_ring();
    directed(true);
    directed(false);
    return end();
}
