// SPDX-License-Identifier: Apache-2.0
// Rank 0 sends to rank 1 late, by 50 ms for each of 6 messages. Rank 1 asks again and again whether its message is there;
// argument 1 says what it asks with and what it does between two questions. Unless that is work it waits 300 ms in all,
// printed as "planted SECONDS"; if it is work, that is what it does in them, printed as "worked SECONDS" of CPU time.
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 6, NAP_MS = 50, COUNT = 10 };

static int in[COUNT], out[COUNT];
static MPI_Status statuses[1];
static double worked;

static void nap(long ns)
{
    nanosleep(&(struct timespec){.tv_sec = ns / 1000000000L, .tv_nsec = ns % 1000000000L}, NULL);
}

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

// work computes for so many seconds of CPU time.
static void work(double seconds)
{
    const double from = cpu();
    while (cpu() - from < seconds)
        ;
    worked += cpu() - from;
}

// pause_between is what rank 1 does after the n-th question in vain.
static void pause_between(const char *how, int n)
{
    if (strcmp(how, "sleep50us") == 0)
        nap(50000);
    else if (strcmp(how, "sleep1ms") == 0 || strcmp(how, "iprobe") == 0 || strcmp(how, "improbe") == 0 || strcmp(how, "status") == 0 ||
             strcmp(how, "testall") == 0 || strcmp(how, "wait") == 0)
        nap(1000000);
    else if (strcmp(how, "sleep10ms") == 0)
        nap(10000000);
    else if (strcmp(how, "backoff") == 0)
        nap(1000L << (n < 13 ? n : 13));
    else if (strcmp(how, "yield") == 0)
        sched_yield();
    else if (strcmp(how, "queries") == 0) {
        int size;
        MPI_Wtime();
        nap(1000000);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    } else if (strcmp(how, "work") == 0)
        work(1e-3);
    else if (strcmp(how, "work10ms") == 0)
        work(1e-2);
    else if (strcmp(how, "tasks") == 0 && n % 200 == 199)
        work(1e-3);
}

static void receive(const char *how)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message = MPI_MESSAGE_NULL;
    int there = 0;

    if (strcmp(how, "iprobe") != 0 && strcmp(how, "improbe") != 0)
        MPI_Irecv(in, COUNT, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
    for (int n = 0;; n++) {
        if (strcmp(how, "iprobe") == 0)
            MPI_Iprobe(0, 7, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        else if (strcmp(how, "improbe") == 0)
            MPI_Improbe(0, 7, MPI_COMM_WORLD, &there, &message, MPI_STATUS_IGNORE);
        else if (strcmp(how, "status") == 0)
            MPI_Request_get_status(request, &there, MPI_STATUS_IGNORE);
        else if (strcmp(how, "testall") == 0)
            MPI_Testall(1, &request, &there, statuses);
        else
            MPI_Test(&request, &there, MPI_STATUS_IGNORE);
        if (there || (strcmp(how, "wait") == 0 && n == 20))
            break;
        pause_between(how, n);
    }
    if (strcmp(how, "iprobe") == 0)
        MPI_Recv(in, COUNT, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (strcmp(how, "improbe") == 0)
        MPI_Mrecv(in, COUNT, MPI_INT, &message, MPI_STATUS_IGNORE);
    else if (request != MPI_REQUEST_NULL)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        if (rank == 0) {
            nap(NAP_MS * 1000000L);
            MPI_Send(out, COUNT, MPI_INT, 1, 7, MPI_COMM_WORLD);
            MPI_Recv(out, COUNT, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            receive(argv[1]);
            MPI_Send(in, COUNT, MPI_INT, 0, 8, MPI_COMM_WORLD);
        }
    }
    if (rank == 0)
        printf("planted %g\n", ROUNDS * NAP_MS * 1e-3);
    if (rank == 1)
        printf("worked %g\n", worked);
    MPI_Finalize();
    return 0;
}
