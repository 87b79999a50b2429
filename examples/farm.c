// SPDX-License-Identifier: Apache-2.0
// Rank 0 deals out tasks in rounds, the others work on them. Each result is answered: with a task, or, when a worker has
// had its share of the round, with the end of the round. There is no collective at all.
//
//   --rounds N   default 20
//   --tasks T    of a worker in a round, default 4
//   --work-us U  a task takes U, 2 U or 3 U by its number, default 200
//   --mark       each round ends with MPI_Pcontrol(100)
//
// Known beforehand:
//   Result       the sum of the squares of the tasks' numbers, in each round.
//   Order        not known: whose result comes first depends on time. The master's functions and their order are the same in
//                all rounds, whom it answers is not.
//   Topology     a star: all messages to and from rank 0.
//   Clusters     the master and the workers.
//   Wait states  workers wait for each other at the end of a round, and the master for results (late sender).
#include "common.h"

enum { TASK = 1, RESULT = 2, OVER = 3 };

static long rounds = 20, tasks = 4, work_us = 200;
static bool mark;

static const struct option options[] = {
    {"--rounds", "rounds", .number = &rounds},
    {"--tasks", "tasks of a worker in a round", .number = &tasks},
    {"--work-us", "microseconds that a task takes at least", .number = &work_us},
    {"--mark", "mark rounds", .flag = &mark},
    {0},
};

NAMED static void answer(int worker, long task, int tag)
{
    MPI_Send(&task, 1, MPI_LONG, worker, tag, MPI_COMM_WORLD);
}

NAMED static void deal(void)
{
    long next = 1, sum = 0, all = tasks * (ranks - 1), had[ranks];
    for (int worker = 1; worker < ranks; worker++) {
        had[worker] = 1;
        answer(worker, next++, TASK);
    }
    for (long done = 0; done < all; done++) {
        long result;
        MPI_Status status;
        MPI_Recv(&result, 1, MPI_LONG, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
        sum += result;
        if (had[status.MPI_SOURCE]++ < tasks)
            answer(status.MPI_SOURCE, next++, TASK);
        else
            answer(status.MPI_SOURCE, 0, OVER);
    }
    check(sum == all * (all + 1) * (2 * all + 1) / 6, "sum %ld of %ld tasks", sum, all);
}

NAMED static void work(void)
{
    for (;;) {
        long task;
        MPI_Status status;
        MPI_Recv(&task, 1, MPI_LONG, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == OVER)
            return;
        compute_us(work_us * (1 + task % 3));
        long result = task * task;
        MPI_Send(&result, 1, MPI_LONG, 0, RESULT, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    begin(argc, argv, options);
    for (long i = 0; i < rounds; i++) {
        if (rank == 0)
            deal();
        else
            work();
        if (mark)
            MPI_Pcontrol(100);
    }
    if (rank == 0)
        say("farm: %d workers, %ld rounds of %ld tasks each", ranks - 1, rounds, tasks);
    return end();
}
