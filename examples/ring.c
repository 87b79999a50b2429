// SPDX-License-Identifier: Apache-2.0
// A token goes round: rank 0 starts it, each rank works on it, adds its rank and passes it on.
//
//   --iterations N  rounds, default 10
//   --bytes B       size of the token, at least 8 (the default)
//   --work-us U     what each rank works on the token, default 500
//
// Known beforehand:
//   Topology       rank r sends to r+1 only, the last to 0.
//   Critical path  all of the run: the work of every rank in turn. A round takes (number of ranks) * U and more.
//   Wait states    each rank waits in MPI_Recv for (number of ranks - 1) * U per round: late sender, all of it.
//   Clusters       rank 0 (sends first) and all others (receive first).
#include "common.h"

static long iterations = 10, bytes = sizeof(long), work_us = 500;

static const struct option options[] = {
    {"--iterations", "rounds", .number = &iterations},
    {"--bytes", "size of the token", .number = &bytes},
    {"--work-us", "microseconds of work on the token per rank", .number = &work_us},
    {0},
};

NAMED static void work_on(long *token)
{
    compute_us(work_us);
    *token += rank;
}

NAMED static void receive(long *token)
{
    MPI_Status status;
    int received, before = (rank + ranks - 1) % ranks;
    MPI_Recv(token, bytes, MPI_BYTE, before, 7, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &received);
    check(received == bytes && status.MPI_SOURCE == before && status.MPI_TAG == 7, "%d bytes from %d", received, status.MPI_SOURCE);
}

NAMED static void pass_on(const long *token)
{
    MPI_Send(token, bytes, MPI_BYTE, (rank + 1) % ranks, 7, MPI_COMM_WORLD);
}

NAMED static void go_round(long *token)
{
    if (rank != 0)
        receive(token);
    work_on(token);
    pass_on(token);
    if (rank == 0)
        receive(token);
}

int main(int argc, char **argv)
{
    begin(argc, argv, options);
    if (bytes < (long)sizeof(long))
        bytes = sizeof(long);
    long *token = calloc(1, bytes);
    for (long k = 1; k <= iterations; k++) {
        go_round(token);
        // ranks after this one add theirs in this round, ranks before have done so
        long sum = (k - 1) * (ranks * (ranks - 1L) / 2) + rank * (rank + 1L) / 2;
        if (rank == 0)
            sum = k * (ranks * (ranks - 1L) / 2);
        check(*token == sum, "token %ld, not %ld, in round %ld", *token, sum, k);
    }
    if (rank == 0)
        say("ring: %d ranks, %ld rounds, token %ld", ranks, iterations, *token);
    free(token);
    return end();
}
