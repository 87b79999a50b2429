// SPDX-License-Identifier: Apache-2.0
// Two phases: a line of ranks whose ends have one neighbor, then pairs that exchange. Made to be traced with
// --mode clustered, and to make that difficult.
//
//   --iterations N   of each phase, default 2000
//   --reduce WORD    each iteration ends with a reduction on: world (default), sub (a communicator of all ranks but the
//                    last), none
//   --mark           each iteration ends with MPI_Pcontrol(100)
//   --forget R       but rank R forgets that from the middle of the second phase on
//   --diverge R      rank R makes a call more in some iterations of the second phase, never regularly
//   --leave          the last rank leaves after the first phase (not with --reduce world)
//   --abort R        rank R aborts in the middle of the second phase
//   --work-us U      computation of an iteration, default 0
//
// Known beforehand:
//   Clusters   first phase: the two ends of the line, and all others; second phase: ranks with an even number and with an
//              odd one.
#include "common.h"

static long iterations = 2000, forget = -1, diverge = -1, abort_rank = -1, work_us = 0;
static const char *reduce = "world";
static bool mark, leave;

static const struct option options[] = {
    {"--iterations", "iterations of each phase", .number = &iterations},
    {"--reduce", "communicator of the reduction: world, sub or none", .word = &reduce},
    {"--mark", "mark iterations", .flag = &mark},
    {"--forget", "rank that forgets to", .number = &forget},
    {"--diverge", "rank that does something else", .number = &diverge},
    {"--leave", "the last rank leaves early", .flag = &leave},
    {"--abort", "rank that aborts", .number = &abort_rank},
    {"--work-us", "microseconds of computation per iteration", .number = &work_us},
    {0},
};

static MPI_Comm sub;
static long done; // iterations

NAMED static void exchange(int with)
{
    int mine = rank, theirs = -1;
    MPI_Sendrecv(&mine, 1, MPI_INT, with, 0, &theirs, 1, MPI_INT, with, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(theirs == with, "rank %d sent %d", with, theirs);
}

NAMED static void end_of_iteration(void)
{
    int one = 1, sum = 0;
    compute_us(work_us);
    if (strcmp(reduce, "world") == 0)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(reduce, "sub") == 0 && sub != MPI_COMM_NULL)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, sub);
    done++;
    if (mark && !(rank == forget && done > iterations + iterations / 2))
        MPI_Pcontrol(100);
}

NAMED static void line(void)
{
    for (long i = 0; i < iterations; i++) {
        if (rank % 2 == 0) {
            if (rank + 1 < ranks)
                exchange(rank + 1);
            if (rank > 0)
                exchange(rank - 1);
        } else {
            exchange(rank - 1);
            if (rank + 1 < ranks)
                exchange(rank + 1);
        }
        end_of_iteration();
    }
}

NAMED static void pairs(void)
{
    int other = rank ^ 1, with = other < (leave ? ranks - 1 : ranks) ? other : MPI_PROC_NULL;
    for (long i = 0; i < iterations; i++) {
        int mine = rank, theirs = -1, flag;
        MPI_Request request;
        if (rank % 2 == 0) {
            MPI_Isend(&mine, 1, MPI_INT, with, 1, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Irecv(&theirs, 1, MPI_INT, with, 1, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        if (rank == diverge && i * i % 1009 < 300)
            MPI_Initialized(&flag);
        if (rank == abort_rank && i == iterations / 2)
            MPI_Abort(MPI_COMM_WORLD, 3);
        end_of_iteration();
    }
}

int main(int argc, char **argv)
{
    begin(argc, argv, options);
    MPI_Comm_split(MPI_COMM_WORLD, rank == ranks - 1 ? MPI_UNDEFINED : 0, rank, &sub);
    line();
    if (!leave || rank != ranks - 1)
        pairs();
    if (sub != MPI_COMM_NULL)
        MPI_Comm_free(&sub);
    return end();
}
