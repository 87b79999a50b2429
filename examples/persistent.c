// SPDX-License-Identifier: Apache-2.0
// Persistent requests: made once, started many times. Rank r sends to r+1 in four modes and receives from r-1.
//
//   --rounds N  how often the requests are started, default 5
//
// Known beforehand:
//   Requests  8 per rank, made once and freed once; each is started and completed N times, sends by MPI_Startall and
//             MPI_Waitall, receives by MPI_Start (before the sends) and MPI_Waitany.
//   Results   in round k a message of mode m from rank r holds 10000 k + 100 r + m.
//   Topology  a ring.
//   With MPI 4 also one persistent collective operation, a sum, started N times.
#include "common.h"

enum { MODES = 4 };

static long rounds = 5;

static const struct option options[] = {{"--rounds", "how often the requests are started", .number = &rounds}, {0}};

static int left, right;
static int in[MODES], out[MODES];
static MPI_Request sends[MODES], receives[MODES];

static int message(long k, int r, int mode)
{
    return 10000 * k + 100 * r + mode;
}

NAMED static void make_requests(void)
{
    MPI_Send_init(&out[0], 1, MPI_INT, right, 0, MPI_COMM_WORLD, &sends[0]);
    MPI_Ssend_init(&out[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD, &sends[1]);
    MPI_Bsend_init(&out[2], 1, MPI_INT, right, 2, MPI_COMM_WORLD, &sends[2]);
    MPI_Rsend_init(&out[3], 1, MPI_INT, right, 3, MPI_COMM_WORLD, &sends[3]);
    for (int m = 0; m < MODES; m++)
        MPI_Recv_init(&in[m], 1, MPI_INT, left, m, MPI_COMM_WORLD, &receives[m]);
}

NAMED static void exchange(long k)
{
    for (int m = 0; m < MODES; m++) {
        in[m] = -1;
        out[m] = message(k, rank, m);
        MPI_Start(&receives[m]);
    }
    MPI_Barrier(MPI_COMM_WORLD); // the ready send needs its receive
    MPI_Startall(MODES, sends);
    for (int i = 0; i < MODES; i++) {
        int m;
        MPI_Status status;
        MPI_Waitany(MODES, receives, &m, &status);
        check(in[m] == message(k, left, m) && status.MPI_TAG == m, "round %ld, mode %d: %d", k, m, in[m]);
    }
    MPI_Waitall(MODES, sends, MPI_STATUSES_IGNORE);
}

NAMED static void free_requests(void)
{
    for (int m = 0; m < MODES; m++) {
        check(sends[m] != MPI_REQUEST_NULL && receives[m] != MPI_REQUEST_NULL, "a persistent request is gone");
        MPI_Request_free(&sends[m]);
        MPI_Request_free(&receives[m]);
    }
}

NAMED static void collective(void)
{
#if MPI_VERSION >= 4
    int mine = 0, sum;
    MPI_Request request;
    MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (long k = 1; k <= rounds; k++) {
        mine = k * rank;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(sum == k * ranks * (ranks - 1) / 2, "round %ld: sum %d", k, sum);
    }
    MPI_Request_free(&request);
#endif
}

int main(int argc, char **argv)
{
    static char buffer[MPI_BSEND_OVERHEAD + 64];
    void *detached;
    int size;
    begin(argc, argv, options);
    left = (rank + ranks - 1) % ranks;
    right = (rank + 1) % ranks;
    MPI_Buffer_attach(buffer, sizeof buffer);
    make_requests();
    for (long k = 1; k <= rounds; k++)
        exchange(k);
    free_requests();
    MPI_Buffer_detach(&detached, &size);
    collective();
    return end();
}
