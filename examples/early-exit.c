// SPDX-License-Identifier: Apache-2.0
// A program that ends in the way one asks for, after some communication: each round, every rank passes a number to
// its right neighbor and all add them up.
//
//   --exit N       all ranks exit with code N after MPI_Finalize, default 0
//   --abort N      rank 0 calls MPI_Abort with code N in the middle
//   --kill R       rank R kills itself with SIGKILL in the middle
//   --no-finalize  all ranks exit without MPI_Finalize
//   --rounds N     default 20; the middle is after half of them
//
// Known beforehand: a rank that lives to the end makes N calls each of MPI_Sendrecv and MPI_Allreduce; a killed one
// half of them, and the others hang in the next MPI_Sendrecv or MPI_Allreduce until mpirun ends them.
#include "common.h"

#include <signal.h>

static long exit_code = 0, abort_code = -1, killed_rank = -1, rounds = 20;
static bool no_finalize;

static const struct option options[] = {
    {"--exit", "exit code of all ranks", .number = &exit_code},
    {"--abort", "rank 0 calls MPI_Abort with this code", .number = &abort_code},
    {"--kill", "the rank that kills itself", .number = &killed_rank},
    {"--no-finalize", "exit without MPI_Finalize", .flag = &no_finalize},
    {"--rounds", "rounds of communication", .number = &rounds},
    {0},
};

NAMED static void communicate(void)
{
    int from_left = -1, sum = -1, left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 1, &from_left, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&from_left, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(from_left == left, "%d from the left, not %d", from_left, left);
    check(sum == ranks * (ranks - 1) / 2, "sum %d", sum);
}

NAMED static void misbehave(void)
{
    if (rank == killed_rank)
        raise(SIGKILL);
    if (rank == 0 && abort_code >= 0)
        MPI_Abort(MPI_COMM_WORLD, abort_code);
}

int main(int argc, char **argv)
{
    begin(argc, argv, options);
    for (long k = 0; k < rounds; k++) {
        if (k == rounds / 2)
            misbehave();
        communicate();
    }
    if (no_finalize) {
        print_calls();
        return exit_code;
    }
    int wrong = end();
    return exit_code ? exit_code : wrong;
}
