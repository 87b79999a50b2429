// SPDX-License-Identifier: Apache-2.0
// Blocking point-to-point communication in all modes, probes, buffers, counts of statuses. Two ranks.
#include "family.h"

enum { N = 4 };

static int out[N] = {1, 2, 3, 4}, in[N];
static MPI_Status status;

static void received(int tag, int n)
{
    int count, elements;
    MPI_Count many;

    CHECK(status.MPI_SOURCE == 1 - rank && status.MPI_TAG == tag && in[n - 1] == n);
    MPI_Get_count(&status, MPI_INT, &count);
    MPI_Get_elements(&status, MPI_INT, &elements);
    MPI_Get_elements_x(&status, MPI_INT, &many);
    CHECK(count == n && elements == n && many == n);
#if MPI_VERSION >= 4
    MPI_Count large;
    MPI_Get_count_c(&status, MPI_INT, &large);
    MPI_Get_elements_c(&status, MPI_INT, &many);
    CHECK(large == n && many == n);
#endif
    memset(in, 0, sizeof in);
}

static void modes(void)
{
    int bytes = sizeof out + MPI_BSEND_OVERHEAD, size;
    void *buffer = malloc(2 * bytes), *detached;

    MPI_Buffer_attach(buffer, bytes);
    if (rank == 0) {
        MPI_Send(out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Bsend(out, 2, MPI_INT, 1, 2, MPI_COMM_WORLD);
        MPI_Ssend(out, 3, MPI_INT, 1, 3, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Rsend(out, 4, MPI_INT, 1, 4, MPI_COMM_WORLD);
    } else {
        MPI_Request request;
        for (int n = 1; n <= 3; n++) {
            MPI_Recv(in, N, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            received(n, n);
        }
        MPI_Irecv(in, N, MPI_INT, 0, 4, MPI_COMM_WORLD, &request);
        MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        received(4, 4);
    }
    MPI_Buffer_detach(&detached, &size);
    CHECK(detached == buffer && size == bytes);
#if MPI_VERSION >= 4
    MPI_Count large;
    MPI_Buffer_attach_c(buffer, bytes);
    if (rank == 0) {
        MPI_Send_c(out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Bsend_c(out, 2, MPI_INT, 1, 2, MPI_COMM_WORLD);
        MPI_Ssend_c(out, 3, MPI_INT, 1, 3, MPI_COMM_WORLD);
        MPI_Recv_c(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Rsend_c(out, 4, MPI_INT, 1, 4, MPI_COMM_WORLD);
    } else {
        MPI_Request request;
        for (int n = 1; n <= 3; n++) {
            MPI_Recv_c(in, N, MPI_INT, 0, n, MPI_COMM_WORLD, &status);
            received(n, n);
        }
        MPI_Irecv(in, N, MPI_INT, 0, 4, MPI_COMM_WORLD, &request);
        MPI_Send_c(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        received(4, 4);
    }
    MPI_Buffer_detach_c(&detached, &large);
    CHECK(detached == buffer && large == bytes);
#endif
    free(buffer);
}

static void probes(void)
{
    MPI_Message message;
    MPI_Request request;
    int flag = 0;

    if (rank == 0) {
        for (int tag = 1; tag <= 6; tag++)
            MPI_Send(out, 2, MPI_INT, 1, tag, MPI_COMM_WORLD);
    } else {
        MPI_Probe(0, 1, MPI_COMM_WORLD, &status);
        MPI_Recv(in, N, MPI_INT, 0, 1, MPI_COMM_WORLD, &status);
        received(1, 2);
        while (!flag)
            MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Mprobe(0, 2, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(in, N, MPI_INT, &message, &status);
        CHECK(message == MPI_MESSAGE_NULL);
        received(2, 2);
        for (flag = 0; !flag;)
            MPI_Improbe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
        MPI_Imrecv(in, N, MPI_INT, &message, &request);
        CHECK(message == MPI_MESSAGE_NULL);
        MPI_Wait(&request, &status);
        received(3, 2);
        MPI_Mprobe(0, 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
        MPI_Mrecv_c(in, N, MPI_INT, &message, &status);
        received(4, 2);
        MPI_Mprobe(0, 5, MPI_COMM_WORLD, &message, &status);
        MPI_Imrecv_c(in, N, MPI_INT, &message, &request);
        MPI_Wait(&request, &status);
        received(5, 2);
#else
        MPI_Mrecv(in, N, MPI_INT, &message, MPI_STATUS_IGNORE);
        MPI_Recv(in, N, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
        MPI_Recv(in, N, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
        CHECK(message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL);
        MPI_Mrecv(in, N, MPI_INT, &message, &status);
    }
}

static void exchanges(void)
{
    int there = 1 - rank;

    MPI_Sendrecv(out, 3, MPI_INT, there, 7, in, N, MPI_INT, there, 7, MPI_COMM_WORLD, &status);
    received(7, 3);
    memcpy(in, out, sizeof in);
    MPI_Sendrecv_replace(in, 3, MPI_INT, there, 8, there, 8, MPI_COMM_WORLD, &status);
    received(8, 3);
    MPI_Sendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 7, in, N, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
    MPI_Sendrecv_c(out, 3, MPI_INT, there, 7, in, N, MPI_INT, there, 7, MPI_COMM_WORLD, &status);
    received(7, 3);
    memcpy(in, out, sizeof in);
    MPI_Sendrecv_replace_c(in, 3, MPI_INT, there, 8, there, 8, MPI_COMM_WORLD, &status);
    received(8, 3);
#endif
}

int main(void)
{
    begin();
    modes();
    probes();
    exchanges();
    return end();
}
