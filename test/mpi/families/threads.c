// SPDX-License-Identifier: Apache-2.0
// MPI_THREAD_MULTIPLE: eight threads a rank call MPI at once, each on a communicator of its own, all of them make and
// free handles, and they complete requests of one another. Two ranks.
#include "family.h"

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 12, SHARED = 64 };

static MPI_Comm comms[THREADS];
static MPI_Request shared[SHARED]; // started by the main thread, completed by whichever thread takes them
static int shared_in[SHARED], shared_out[SHARED];
static atomic_int next_shared;

static void *work(void *argument)
{
    const int me = (int)(long)argument, there = 1 - rank;
    int x[4] = {me, me, me, me}, y[4], sum, index, flag;
    MPI_Comm comm = comms[me], copy;
    MPI_Request requests[4];
    MPI_Datatype type;
    MPI_Group group;
    MPI_Status status;

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 2; i++) {
            MPI_Irecv(&y[i], 1, MPI_INT, there, i, comm, &requests[i]);
            MPI_Isend(&x[i], 1, MPI_INT, there, i, comm, &requests[2 + i]);
        }
        for (int i = 0; i < 4; i++)
            MPI_Waitany(4, requests, &index, &status);
        CHECK(y[0] == me && y[1] == me);
        MPI_Sendrecv(x, 4, MPI_INT, there, 9, y, 4, MPI_INT, there, 9, comm, &status);
        MPI_Allreduce(x, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == 2 * me);
        MPI_Type_contiguous(1 + me, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Comm_group(comm, &group);
        MPI_Iprobe(MPI_ANY_SOURCE, 77, comm, &flag, MPI_STATUS_IGNORE);
        MPI_Group_free(&group);
        MPI_Type_free(&type);
        if (round % 4 == 0) {
            MPI_Comm_dup(comm, &copy);
            MPI_Barrier(copy);
            MPI_Comm_free(&copy);
        }
        // Two requests that another thread has made: nobody else takes them.
        int taken = atomic_fetch_add(&next_shared, 2);
        if (taken + 1 < SHARED) {
            MPI_Waitany(2, &shared[taken], &index, &status);
            MPI_Waitany(2, &shared[taken], &index, MPI_STATUS_IGNORE);
        }
    }
    return NULL;
}

int main(void)
{
    int provided;
    pthread_t threads[THREADS];

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    for (int i = 0; i < SHARED; i += 2) {
        MPI_Irecv(&shared_in[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &shared[i]);
        MPI_Isend(&shared_out[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &shared[i + 1]);
    }
    for (long t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, work, (void *)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&comms[t]);
    return end();
}
