// SPDX-License-Identifier: Apache-2.0
// The control: every rank does the same, in the same time. Steps of equal work, each followed by an exchange with both
// neighbors on a ring, a sum and, every fifth step, a broadcast and a barrier.
//
//   --iterations N  default 30
//   --work-us U     work per step, default 2000
//
// Known beforehand:
//   Critical path  no rank's compute has a larger share than another's, but for the machine's noise.
//   Wait states    none of a length that is worth a word.
//   Clusters       one: all ranks make the same calls, with neighbors relative to themselves.
#include "common.h"

static long iterations = 30, work_us = 2000;

static const struct option options[] = {
    {"--iterations", "steps", .number = &iterations},
    {"--work-us", "microseconds of work per step", .number = &work_us},
    {0},
};

NAMED static double compute(void)
{
    compute_us(work_us);
    return rank + 0.5;
}

NAMED static void exchange(double mine)
{
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    double from_left = -1, from_right = -1;
    MPI_Sendrecv(&mine, 1, MPI_DOUBLE, right, 1, &from_left, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&mine, 1, MPI_DOUBLE, left, 2, &from_right, 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(from_left == left + 0.5 && from_right == right + 0.5, "neighbors sent %g and %g", from_left, from_right);
}

NAMED static double add_up(double mine)
{
    double sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check(sum == ranks * ranks / 2.0, "sum %g", sum);
    return sum;
}

NAMED static void agree(double sum)
{
    double first = rank == 0 ? sum : 0;
    MPI_Bcast(&first, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    check(first == sum, "rank 0 says %g", first);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    begin(argc, argv, options);
    for (long k = 1; k <= iterations; k++) {
        double mine = compute();
        exchange(mine);
        double sum = add_up(mine);
        if (k % 5 == 0)
            agree(sum);
    }
    return end();
}
