// SPDX-License-Identifier: Apache-2.0
// Windows of requests, as benchmarks of bandwidth have them: what a call's requests are depends on the calls before it.
// For an even number of ranks; each even one sends to the next.
//
// First bandwidth alone, for one size of message after the other: windows of WINDOW messages, all of one tag and from one
// line, completed by MPI_Waitall, and an answer. Then, one round after the other, with messages that double in size every
// eighth round, and an MPI_Barrier at the end:
//   - WINDOW times MPI_Isend or MPI_Irecv, all completed by MPI_Waitall; every third round by MPI_Waitsome with fewer
//     requests left each time;
//   - the same over SOME requests by MPI_Waitany, in every other round by MPI_Testany, statuses ignored in some;
//   - persistent requests, started and completed;
//   - an answer from whoever it comes (MPI_ANY_SOURCE), on a communicator that is made anew now and then.
//
// Then bandwidth again, a phase of its own.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WINDOW = 32, SOME = 8, LARGEST = 1 << 14 };

static int rank, ranks, peer;
static char data[WINDOW][LARGEST];
static MPI_Request requests[WINDOW], kept[2];
static MPI_Status statuses[WINDOW];

static void begin(int n, int bytes, int tag)
{
    for (int i = 0; i < n; i++) {
        if (rank % 2 == 0)
            MPI_Isend(data[i], bytes, MPI_CHAR, peer, tag, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(data[i], bytes, MPI_CHAR, peer, tag, MPI_COMM_WORLD, &requests[i]);
    }
}

static void bandwidth(int bytes, int rounds)
{
    char answer = 0;
    for (int round = 0; round < rounds; round++) {
        begin(WINDOW, bytes, 1);
        MPI_Waitall(WINDOW, requests, statuses);
        if (rank % 2)
            MPI_Send(&answer, 1, MPI_CHAR, peer, 2, MPI_COMM_WORLD);
        else
            MPI_Recv(&answer, 1, MPI_CHAR, peer, 2, MPI_COMM_WORLD, &statuses[0]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void all(int round)
{
    if (round % 3 != 0) {
        MPI_Waitall(WINDOW, requests, round % 2 ? statuses : MPI_STATUSES_IGNORE);
        return;
    }
    for (int left = WINDOW, n; left > 0;) {
        int indices[WINDOW], rest = 0;
        MPI_Waitsome(left, requests, &n, indices, statuses);
        for (int i = 0; i < left; i++)
            if (requests[i] != MPI_REQUEST_NULL)
                requests[rest++] = requests[i];
        left = rest;
    }
}

static void one_by_one(int round)
{
    for (int done = 0; done < SOME;) {
        int index, flag = 1;
        MPI_Status *status = round % 3 ? &statuses[0] : MPI_STATUS_IGNORE;
        if (round % 2)
            MPI_Testany(SOME, requests, &index, &flag, status);
        else
            MPI_Waitany(SOME, requests, &index, status);
        done += flag;
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 40, sum = 0;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    peer = rank ^ 1;
    for (int bytes = 1; bytes <= LARGEST; bytes *= 2)
        bandwidth(bytes, rounds / 2);
    MPI_Send_init(data[0], 8, MPI_CHAR, peer, 100, MPI_COMM_WORLD, &kept[0]);
    MPI_Recv_init(data[1], 8, MPI_CHAR, peer, 100, MPI_COMM_WORLD, &kept[1]);
    for (int round = 0; round < rounds; round++) {
        int bytes = 64 << (round / 8 % 8), answer = round;
        begin(WINDOW, bytes, 1);
        all(round);
        begin(SOME, bytes, 2);
        one_by_one(round);
        MPI_Startall(2, kept);
        MPI_Waitall(2, kept, statuses);
        if (round % 5 == 0) {
            if (comm != MPI_COMM_NULL)
                MPI_Comm_free(&comm);
            MPI_Comm_split(MPI_COMM_WORLD, round % 10 ? rank / 2 : 0, -rank, &comm);
        }
        if (rank % 2) {
            MPI_Send(&answer, 1, MPI_INT, peer, 7, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&answer, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &statuses[0]);
            sum += answer;
        }
        MPI_Barrier(comm);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    bandwidth(LARGEST, 3 * rounds);
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    MPI_Request_free(&kept[0]);
    MPI_Request_free(&kept[1]);
    if (rank == 0)
        printf("%s\n", sum == rounds * (rounds - 1) / 2 ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
