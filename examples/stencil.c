// SPDX-License-Identifier: Apache-2.0
// Jacobi iteration of the Laplace equation on a grid of ranks (5-point stencil, halo exchange with the four
// neighbors, residual of the whole domain every 10 iterations).
//
//   --iterations N   default 100
//   --work-us U      duration of one iteration's computation, default 2000
//   --slow-rank R    the computation of rank R ...
//   --slow-factor F  ... takes F times as long, default 3
//
// Known beforehand:
//   Topology   a Cartesian grid of MPI_Dims_create's shape, not periodic; each rank talks with up to 4 neighbors.
//   Results    the initial field is an eigenvector of the iteration: after k iterations it is lambda^k times itself.
//   Balanced   (no --slow-rank): every rank computes for the same time; no rank is to blame for anything.
//   Slow rank  the critical path is the slow rank's compute_interior. Everyone else waits (F-1) * U per iteration, in
//              MPI_Waitall of exchange_halo (late sender) or, ahead by the distance in hops, in MPI_Allreduce of
//              global_residual (wait at NxN).
//   Clusters   ranks at corners, edges and inside of the grid differ in the number of neighbors that are there;
//              with MPI_PROC_NULL counted as a neighbor all ranks make the same calls.
#include "common.h"

enum { CELLS = 32, WIDTH = CELLS + 2 }; // per rank and dimension, and with the halo

static long iterations = 100, slow_rank = -1, slow_factor = 3, work_us = 2000;

static const struct option options[] = {
    {"--iterations", "iterations", .number = &iterations},
    {"--work-us", "microseconds of computation per iteration", .number = &work_us},
    {"--slow-rank", "the rank that takes longer", .number = &slow_rank},
    {"--slow-factor", "how many times as long", .number = &slow_factor},
    {0},
};

// domain is one rank's part of the field.
struct domain {
    MPI_Comm grid;
    int dims[2], coords[2];
    int north, south, west, east;
    MPI_Datatype column;
    double now[WIDTH][WIDTH], next[WIDTH][WIDTH];
};

// eigenvector is the initial field at a cell, counted from 1 within the domain.
static double eigenvector(const struct domain *d, int i, int j)
{
    double angle_i = M_PI * (d->coords[0] * CELLS + i) / (d->dims[0] * CELLS + 1);
    double angle_j = M_PI * (d->coords[1] * CELLS + j) / (d->dims[1] * CELLS + 1);
    return sin(angle_i) * sin(angle_j);
}

// eigenvalue is what one iteration multiplies the field with.
static double eigenvalue(const struct domain *d)
{
    return (cos(M_PI / (d->dims[0] * CELLS + 1)) + cos(M_PI / (d->dims[1] * CELLS + 1))) / 2;
}

NAMED static void set_up(struct domain *d)
{
    int periodic[2] = {0, 0};
    MPI_Dims_create(ranks, 2, d->dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, d->dims, periodic, 0, &d->grid);
    MPI_Cart_coords(d->grid, rank, 2, d->coords);
    MPI_Cart_shift(d->grid, 0, 1, &d->north, &d->south);
    MPI_Cart_shift(d->grid, 1, 1, &d->west, &d->east);
    MPI_Type_vector(CELLS, 1, WIDTH, MPI_DOUBLE, &d->column);
    MPI_Type_commit(&d->column);
    for (int i = 1; i <= CELLS; i++)
        for (int j = 1; j <= CELLS; j++)
            d->now[i][j] = eigenvector(d, i, j);
}

NAMED static void exchange_halo(struct domain *d)
{
    MPI_Request requests[8];
    MPI_Irecv(&d->now[0][1], CELLS, MPI_DOUBLE, d->north, 0, d->grid, &requests[0]);
    MPI_Irecv(&d->now[CELLS + 1][1], CELLS, MPI_DOUBLE, d->south, 1, d->grid, &requests[1]);
    MPI_Irecv(&d->now[1][0], 1, d->column, d->west, 2, d->grid, &requests[2]);
    MPI_Irecv(&d->now[1][CELLS + 1], 1, d->column, d->east, 3, d->grid, &requests[3]);
    MPI_Isend(&d->now[1][1], CELLS, MPI_DOUBLE, d->north, 1, d->grid, &requests[4]);
    MPI_Isend(&d->now[CELLS][1], CELLS, MPI_DOUBLE, d->south, 0, d->grid, &requests[5]);
    MPI_Isend(&d->now[1][1], 1, d->column, d->west, 3, d->grid, &requests[6]);
    MPI_Isend(&d->now[1][CELLS], 1, d->column, d->east, 2, d->grid, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

static void update(struct domain *d, int i, int j)
{
    d->next[i][j] = (d->now[i - 1][j] + d->now[i + 1][j] + d->now[i][j - 1] + d->now[i][j + 1]) / 4;
}

// compute_interior takes the time that the options say, whatever the machine's speed.
NAMED static void compute_interior(struct domain *d)
{
    for (int i = 2; i < CELLS; i++)
        for (int j = 2; j < CELLS; j++)
            update(d, i, j);
    compute_us(work_us * (rank == slow_rank ? slow_factor : 1));
}

NAMED static void compute_boundary(struct domain *d)
{
    for (int j = 1; j <= CELLS; j++) {
        update(d, 1, j);
        update(d, CELLS, j);
    }
    for (int i = 2; i < CELLS; i++) {
        update(d, i, 1);
        update(d, i, CELLS);
    }
}

// global_residual is the norm of the last change over the whole domain.
NAMED static double global_residual(struct domain *d)
{
    double mine = 0, all;
    for (int i = 1; i <= CELLS; i++)
        for (int j = 1; j <= CELLS; j++)
            mine += (d->next[i][j] - d->now[i][j]) * (d->next[i][j] - d->now[i][j]);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, d->grid);
    return sqrt(all);
}

// accept makes the next field the current one; the boundary of the whole domain stays 0.
static void accept(struct domain *d)
{
    for (int i = 1; i <= CELLS; i++)
        memcpy(&d->now[i][1], &d->next[i][1], CELLS * sizeof(double));
}

NAMED static void iterate(struct domain *d)
{
    double last = 0;
    for (long k = 1; k <= iterations; k++) {
        exchange_halo(d);
        compute_interior(d);
        compute_boundary(d);
        if (k % 10 == 0) {
            double residual = global_residual(d), expected = last * pow(eigenvalue(d), 10);
            if (last > 0)
                check(fabs(residual - expected) <= 1e-9 * expected, "residual %g, not %g, after %ld", residual, expected, k);
            last = residual;
        }
        accept(d);
    }
    if (rank == 0 && last > 0)
        say("stencil: %d x %d ranks, %ld iterations, residual %.6g", d->dims[0], d->dims[1], iterations, last);
}

static void verify(const struct domain *d)
{
    double factor = pow(eigenvalue(d), iterations);
    for (int i = 1; i <= CELLS; i++)
        for (int j = 1; j <= CELLS; j++)
            if (!check(fabs(d->now[i][j] - factor * eigenvector(d, i, j)) < 1e-9, "cell %d, %d is %g", i, j, d->now[i][j]))
                return;
}

int main(int argc, char **argv)
{
    static struct domain d;
    begin(argc, argv, options);
    set_up(&d);
    iterate(&d);
    verify(&d);
    MPI_Type_free(&d.column);
    MPI_Comm_free(&d.grid);
    return end();
}
