// SPDX-License-Identifier: Apache-2.0
// Point-to-point communication and the life of requests: every send mode, every way to complete, and the rare ends
// (cancelled, freed while active).
//
//   --messages N  in flight at once between two ranks, default 64
//
// Known beforehand:
//   Topology  a ring: rank r sends to r+1 and receives from r-1.
//   Results   message i of rank r holds 1000 r + i.
//   Order     of completion is not known in wait_any, wait_some, test_some and test_any; how often the test functions
//             are called is not known either. Each request completes once.
//   Handles   MPICH gives the same handle for all small sends that are complete at once; in eager_sends
//             there are N requests but perhaps one handle.
//   Wait states  wait_late_sender: rank r waits until its left neighbor has slept 1 ms.
#include "common.h"

enum { MOST = 1024 };

static long messages = 64;

static const struct option options[] = {{"--messages", "in flight at once between two ranks", .number = &messages}, {0}};

static int left, right;
static int in[MOST], out[MOST];
static MPI_Request receives[MOST], sends[MOST];

static int element(int r, int i)
{
    return 1000 * r + i;
}

static void received(int i, const MPI_Status *status)
{
    check(in[i] == element(left, i), "message %d is %d", i, in[i]);
    if (status)
        check(status->MPI_SOURCE == left && status->MPI_TAG == i, "message %d is from %d with tag %d", i, status->MPI_SOURCE, status->MPI_TAG);
}

static void post_receives(int n)
{
    for (int i = 0; i < n; i++) {
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &receives[i]);
    }
}

// send_backwards sends the last message first, so that completion is not in the order of the requests.
static void send_backwards(int n)
{
    for (int i = n - 1; i >= 0; i--)
        MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &sends[i]);
}

static void complete_sends(int n)
{
    MPI_Waitall(n, sends, MPI_STATUSES_IGNORE);
}

NAMED static void wait_late_sender(void)
{
    MPI_Status status;
    post_receives(1);
    compute_us(1000);
    send_backwards(1);
    MPI_Wait(&receives[0], &status);
    received(0, &status);
    check(receives[0] == MPI_REQUEST_NULL, "a request outlives its completion");
    complete_sends(1);
}

NAMED static void wait_any(void)
{
    enum { N = 6 };
    post_receives(N);
    send_backwards(N);
    for (int k = 0; k < N; k++) {
        int i;
        MPI_Status status;
        MPI_Waitany(N, receives, &i, &status);
        received(i, &status);
    }
    int none;
    MPI_Waitany(N, receives, &none, MPI_STATUS_IGNORE);
    check(none == MPI_UNDEFINED, "waitany of nothing says %d", none);
    complete_sends(N);
}

NAMED static void wait_some(void)
{
    enum { N = 6 };
    int indices[N], n;
    MPI_Status statuses[N];
    post_receives(N);
    send_backwards(N);
    for (int done = 0; done < N; done += n) {
        MPI_Waitsome(N, receives, &n, indices, statuses);
        for (int k = 0; k < n; k++)
            received(indices[k], &statuses[k]);
    }
    complete_sends(N);
}

NAMED static void test_some(void)
{
    enum { N = 6 };
    int indices[N], n;
    MPI_Status statuses[N];
    post_receives(N);
    send_backwards(N);
    for (int done = 0; done < N;) {
        MPI_Testsome(N, receives, &n, indices, statuses);
        for (int k = 0; k < n; k++)
            received(indices[k], &statuses[k]);
        done += n;
        if (n == 0)
            sleep_us(200);
    }
    complete_sends(N);
}

NAMED static void test_any(void)
{
    enum { N = 4 };
    int i, flag;
    MPI_Status status;
    post_receives(N);
    send_backwards(N);
    for (int done = 0; done < N;) {
        MPI_Testany(N, receives, &i, &flag, &status);
        if (!flag) {
            sleep_us(200);
            continue;
        }
        received(i, &status);
        done++;
    }
    complete_sends(N);
}

NAMED static void test_all(void)
{
    enum { N = 4 };
    int flag = 0;
    MPI_Status statuses[N];
    post_receives(N);
    send_backwards(N);
    while (!flag) {
        MPI_Testall(N, receives, &flag, statuses);
        if (!flag)
            sleep_us(200);
    }
    for (int i = 0; i < N; i++)
        received(i, &statuses[i]);
    complete_sends(N);
}

NAMED static void test_one(void)
{
    int flag = 0, known = 0;
    MPI_Status status;
    post_receives(1);
    send_backwards(1);
    while (!known) {
        MPI_Request_get_status(receives[0], &known, &status);
        if (!known)
            sleep_us(200);
    }
    check(receives[0] != MPI_REQUEST_NULL, "asking for the status frees the request");
    while (!flag)
        MPI_Test(&receives[0], &flag, &status);
    received(0, &status);
    complete_sends(1);
}

// eager_sends has many small sends outstanding before anybody receives.
NAMED static void eager_sends(int n)
{
    for (int i = 0; i < n; i++)
        MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &sends[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        MPI_Status status;
        in[i] = -1;
        MPI_Recv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &status);
        received(i, &status);
    }
    complete_sends(n);
}

// freed gives up a request while its message may be under way; the barrier says that it has arrived.
NAMED static void freed(void)
{
    MPI_Request request;
    MPI_Isend(&out[0], 1, MPI_INT, right, 0, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    check(request == MPI_REQUEST_NULL, "a freed request is not null");
    MPI_Recv(&in[0], 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    received(0, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

NAMED static void cancelled(void)
{
    MPI_Request request;
    MPI_Status status;
    int flag = 0, never;
    MPI_Irecv(&never, 1, MPI_INT, left, 30000, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    check(flag, "a receive that nobody sends to is not cancelled");
}

NAMED static void probed(void)
{
    MPI_Request request;
    MPI_Status status;
    int count, flag = 0, got[3] = {0};
    MPI_Isend(out, 3, MPI_INT, right, 5, MPI_COMM_WORLD, &request);
    MPI_Probe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    check(count == 3 && status.MPI_SOURCE == left, "probe: %d from %d", count, status.MPI_SOURCE);
    MPI_Recv(got, count, MPI_INT, status.MPI_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(got[2] == element(left, 2), "received %d", got[2]);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    MPI_Isend(out, 2, MPI_INT, right, 6, MPI_COMM_WORLD, &request);
    while (!flag) {
        MPI_Iprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
        if (!flag)
            sleep_us(200);
    }
    check(status.MPI_TAG == 6, "iprobe: tag %d", status.MPI_TAG);
    MPI_Recv(got, 2, MPI_INT, left, status.MPI_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_elements(&status, MPI_INT, &count);
    check(count == 2 && got[1] == element(left, 1), "received %d numbers, %d", count, got[1]);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD); // a wildcard must not see what comes next
}

NAMED static void matched_probe(void)
{
    MPI_Request request, arrival;
    MPI_Message message;
    MPI_Status status;
    int flag = 0, got = -1;
    MPI_Isend(&out[1], 1, MPI_INT, right, 8, MPI_COMM_WORLD, &request);
    MPI_Mprobe(left, 8, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
    check(got == element(left, 1) && message == MPI_MESSAGE_NULL, "mrecv: %d", got);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    MPI_Isend(&out[2], 1, MPI_INT, right, 9, MPI_COMM_WORLD, &request);
    while (!flag) {
        MPI_Improbe(left, 9, MPI_COMM_WORLD, &flag, &message, &status);
        if (!flag)
            sleep_us(200);
    }
    MPI_Imrecv(&got, 1, MPI_INT, &message, &arrival);
    MPI_Wait(&arrival, &status);
    check(got == element(left, 2), "imrecv: %d", got);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

NAMED static void both_ways(void)
{
    MPI_Status status;
    int got = -1, value = element(rank, 3);
    MPI_Sendrecv(&value, 1, MPI_INT, right, 1, &got, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &status);
    check(got == element(left, 3), "sendrecv: %d", got);
    MPI_Sendrecv_replace(&value, 1, MPI_INT, right, 2, left, 2, MPI_COMM_WORLD, &status);
    check(value == element(left, 3), "sendrecv_replace: %d", value);
    got = 5;
    MPI_Recv(&got, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    check(got == 5 && status.MPI_SOURCE == MPI_PROC_NULL, "nobody sent %d", got);
}

static void receive_one(int tag)
{
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(got == out[0] + 1000 * (left - rank), "tag %d: %d", tag, got);
}

NAMED static void buffered(void)
{
    char buffer[2 * (MPI_BSEND_OVERHEAD + 64)];
    void *detached;
    int size;
    MPI_Request request;
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Bsend(&out[0], 1, MPI_INT, right, 21, MPI_COMM_WORLD);
    MPI_Ibsend(&out[0], 1, MPI_INT, right, 22, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    receive_one(21);
    receive_one(22);
    MPI_Buffer_detach(&detached, &size);
    check(detached == buffer && size == (int)sizeof buffer, "another buffer is detached, of %d bytes", size);
}

// synchronous posts the receive first: a ring of blocking synchronous sends would never end.
NAMED static void synchronous(void)
{
    MPI_Request request;
    int got = -1;
    MPI_Irecv(&got, 1, MPI_INT, left, 23, MPI_COMM_WORLD, &request);
    MPI_Ssend(&out[0], 1, MPI_INT, right, 23, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(got == element(left, 0), "ssend: %d", got);

    MPI_Issend(&out[0], 1, MPI_INT, right, 24, MPI_COMM_WORLD, &request);
    receive_one(24);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

NAMED static void ready(void)
{
    MPI_Request requests[3];
    int got[2] = {-1, -1};
    MPI_Irecv(&got[0], 1, MPI_INT, left, 25, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&got[1], 1, MPI_INT, left, 26, MPI_COMM_WORLD, &requests[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rsend(&out[0], 1, MPI_INT, right, 25, MPI_COMM_WORLD);
    MPI_Irsend(&out[1], 1, MPI_INT, right, 26, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    check(got[0] == element(left, 0) && got[1] == element(left, 1), "rsend: %d, %d", got[0], got[1]);
}

int main(int argc, char **argv)
{
    begin(argc, argv, options);
    left = (rank + ranks - 1) % ranks;
    right = (rank + 1) % ranks;
    for (int i = 0; i < MOST; i++)
        out[i] = element(rank, i);
    wait_late_sender();
    wait_any();
    wait_some();
    test_some();
    test_any();
    test_all();
    test_one();
    eager_sends(messages < MOST ? messages : MOST);
    freed();
    cancelled();
    probed();
    matched_probe();
    both_ways();
    buffered();
    synchronous();
    ready();
    return end();
}
