// SPDX-License-Identifier: Apache-2.0
// Non-blocking and persistent point-to-point communication, every way to complete a request. Two ranks, which send to
// each other.
#include "family.h"

enum { N = 4 };

static int out[N] = {1, 2, 3, 4}, in[N];
static int there;
static MPI_Request requests[2 * N];

static void post_receives(void)
{
    memset(in, 0, sizeof in);
    for (int i = 0; i < N; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, there, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD); // for the ready sends
}

static void arrived(void)
{
    for (int i = 0; i < N; i++)
        CHECK(in[i] == out[i]);
}

static void send_in_all_modes(void)
{
    MPI_Isend(&out[0], 1, MPI_INT, there, 0, MPI_COMM_WORLD, &requests[N]);
    MPI_Ibsend(&out[1], 1, MPI_INT, there, 1, MPI_COMM_WORLD, &requests[N + 1]);
    MPI_Issend(&out[2], 1, MPI_INT, there, 2, MPI_COMM_WORLD, &requests[N + 2]);
    MPI_Irsend(&out[3], 1, MPI_INT, there, 3, MPI_COMM_WORLD, &requests[N + 3]);
}

static void completions(void)
{
    int index, flag, n, indices[N];
    MPI_Status status, statuses[2 * N];

    post_receives();
    send_in_all_modes();
    MPI_Waitall(2 * N, requests, statuses);
    for (int i = 0; i < N; i++)
        CHECK(statuses[i].MPI_SOURCE == there && statuses[i].MPI_TAG == i);
    arrived();

    post_receives();
    send_in_all_modes();
    MPI_Wait(&requests[0], &status);
    for (int i = 1; i < N; i++) {
        MPI_Waitany(N, requests, &index, &status);
        CHECK(status.MPI_TAG == index);
    }
    MPI_Waitany(N, requests, &index, MPI_STATUS_IGNORE);
    CHECK(index == MPI_UNDEFINED);
    MPI_Waitall(N, requests + N, MPI_STATUSES_IGNORE);
    arrived();

    post_receives();
    send_in_all_modes();
    for (int done = 0; done < N; done += n)
        MPI_Waitsome(N, requests, &n, indices, done == 0 ? MPI_STATUSES_IGNORE : statuses);
    MPI_Waitsome(N, requests, &n, indices, statuses);
    CHECK(n == MPI_UNDEFINED);
    for (flag = 0; !flag;)
        MPI_Testall(N, requests + N, &flag, statuses);
    arrived();

    post_receives();
    send_in_all_modes();
    for (flag = 0; !flag;)
        MPI_Request_get_status(requests[0], &flag, &status);
    for (flag = 0; !flag;)
        MPI_Test(&requests[0], &flag, &status);
    CHECK(status.MPI_TAG == 0);
    for (int done = 1; done < N; done += flag)
        MPI_Testany(N, requests, &index, &flag, &status);
    for (int done = 0; done < N; done += n > 0 ? n : 0)
        MPI_Testsome(N, requests + N, &n, indices, statuses);
    MPI_Testsome(N, requests + N, &n, indices, MPI_STATUSES_IGNORE);
    CHECK(n == MPI_UNDEFINED);
    for (flag = 0; !flag;)
        MPI_Testall(N, requests, &flag, MPI_STATUSES_IGNORE);
    arrived();
}

static void rare_ends(void)
{
    MPI_Status status;
    int flag;

    MPI_Irecv(in, 1, MPI_INT, there, 99, MPI_COMM_WORLD, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    MPI_Irecv(in, 1, MPI_INT, MPI_PROC_NULL, 98, MPI_COMM_WORLD, &requests[0]);
    MPI_Request_free(&requests[0]);
    CHECK(requests[0] == MPI_REQUEST_NULL);
    MPI_Test(&requests[0], &flag, &status);
    CHECK(flag);
}

static void persistent(void)
{
    MPI_Recv_init(&in[0], 1, MPI_INT, there, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&in[1], 1, MPI_INT, there, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv_init(&in[2], 1, MPI_INT, there, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Recv_init(&in[3], 1, MPI_INT, there, 3, MPI_COMM_WORLD, &requests[3]);
    MPI_Send_init(&out[0], 1, MPI_INT, there, 0, MPI_COMM_WORLD, &requests[4]);
    MPI_Bsend_init(&out[1], 1, MPI_INT, there, 1, MPI_COMM_WORLD, &requests[5]);
    MPI_Ssend_init(&out[2], 1, MPI_INT, there, 2, MPI_COMM_WORLD, &requests[6]);
    MPI_Rsend_init(&out[3], 1, MPI_INT, there, 3, MPI_COMM_WORLD, &requests[7]);
    for (int round = 0; round < 2; round++) {
        memset(in, 0, sizeof in);
        MPI_Startall(N, requests);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = N; i < 2 * N; i++)
            MPI_Start(&requests[i]);
        MPI_Waitall(2 * N, requests, MPI_STATUSES_IGNORE);
        arrived();
    }
    for (int i = 0; i < 2 * N; i++)
        MPI_Request_free(&requests[i]);
}

#if MPI_VERSION >= 4
static void exchanges(void)
{
    MPI_Status status;
    memset(in, 0, sizeof in);
    MPI_Isendrecv(out, 2, MPI_INT, there, 5, in, 2, MPI_INT, there, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], &status);
    CHECK(in[1] == out[1]);
    MPI_Isendrecv_c(out, 3, MPI_INT, there, 6, in, 3, MPI_INT, there, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], &status);
    CHECK(in[2] == out[2]); // MPICH 4.0 leaves the status empty
    MPI_Isendrecv_replace(in, 2, MPI_INT, there, 7, there, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Isendrecv_replace_c(in, 2, MPI_INT, there, 8, there, 8, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK(in[1] == out[1]);
}

static void large(void)
{
    memset(in, 0, sizeof in);
    for (int i = 0; i < N; i++)
        MPI_Irecv_c(&in[i], 1, MPI_INT, there, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend_c(&out[0], 1, MPI_INT, there, 0, MPI_COMM_WORLD, &requests[4]);
    MPI_Ibsend_c(&out[1], 1, MPI_INT, there, 1, MPI_COMM_WORLD, &requests[5]);
    MPI_Issend_c(&out[2], 1, MPI_INT, there, 2, MPI_COMM_WORLD, &requests[6]);
    MPI_Irsend_c(&out[3], 1, MPI_INT, there, 3, MPI_COMM_WORLD, &requests[7]);
    MPI_Waitall(2 * N, requests, MPI_STATUSES_IGNORE);
    arrived();

    memset(in, 0, sizeof in);
    for (int i = 0; i < N; i++)
        MPI_Recv_init_c(&in[i], 1, MPI_INT, there, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Send_init_c(&out[0], 1, MPI_INT, there, 0, MPI_COMM_WORLD, &requests[4]);
    MPI_Bsend_init_c(&out[1], 1, MPI_INT, there, 1, MPI_COMM_WORLD, &requests[5]);
    MPI_Ssend_init_c(&out[2], 1, MPI_INT, there, 2, MPI_COMM_WORLD, &requests[6]);
    MPI_Rsend_init_c(&out[3], 1, MPI_INT, there, 3, MPI_COMM_WORLD, &requests[7]);
    MPI_Startall(N, requests);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Startall(N, requests + N);
    MPI_Waitall(2 * N, requests, MPI_STATUSES_IGNORE);
    arrived();
    for (int i = 0; i < 2 * N; i++)
        MPI_Request_free(&requests[i]);
}
#endif

int main(void)
{
    int bytes = 64 * (sizeof(int) + MPI_BSEND_OVERHEAD), size;
    void *buffer = malloc(bytes);

    begin();
    there = 1 - rank;
    MPI_Buffer_attach(buffer, bytes);
    completions();
    rare_ends();
    persistent();
#if MPI_VERSION >= 4
    exchanges();
    large();
#endif
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
    return end();
}
