// SPDX-License-Identifier: Apache-2.0
// Rank 0 deals out tasks, the others work on them: three rounds, in which the master receives results with
// MPI_ANY_SOURCE, with MPI_Waitany and with MPI_Waitsome.
//
//   --tasks N    per round, default 40
//   --work-us U  a task takes U to 3 * U by its number, default 1000
//
// Known beforehand:
//   Result       the sum of the squares of the tasks' numbers, three times, whoever worked on which.
//   Order        not known: which worker gets which task depends on time, so do sources and completion order.
//   Topology     a star: all messages to and from rank 0.
//   Wait states  the master waits for workers (late sender); the master's own work is next to nothing.
//   Clusters     the master and the workers; workers differ in the number of their tasks.
#include "common.h"

enum { TASK = 1, RESULT = 2, STOP = 3 };

static long tasks = 40, work_us = 1000;

static const struct option options[] = {
    {"--tasks", "tasks per round", .number = &tasks},
    {"--work-us", "microseconds that a task takes at least", .number = &work_us},
    {0},
};

// round_state is what the master knows of a round.
struct round_state {
    long next, done, sum;
};

NAMED static void deal(struct round_state *s, int worker)
{
    if (s->next > tasks)
        return;
    MPI_Send(&s->next, 1, MPI_LONG, worker, TASK, MPI_COMM_WORLD);
    s->next++;
}

NAMED static void account(struct round_state *s, long result)
{
    s->sum += result;
    s->done++;
}

NAMED static void master_any_source(struct round_state *s)
{
    for (int worker = 1; worker < ranks; worker++)
        deal(s, worker);
    while (s->done < tasks) {
        long result;
        MPI_Status status;
        MPI_Recv(&result, 1, MPI_LONG, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
        account(s, result);
        deal(s, status.MPI_SOURCE);
    }
}

// deal_and_listen gives a worker a task, if there is one, and posts the receive of its result.
static void deal_and_listen(struct round_state *s, int worker, long *result, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    if (s->next > tasks)
        return;
    MPI_Irecv(result, 1, MPI_LONG, worker, RESULT, MPI_COMM_WORLD, request);
    deal(s, worker);
}

NAMED static void master_waitany(struct round_state *s)
{
    long results[ranks];
    MPI_Request requests[ranks];
    for (int i = 0; i < ranks - 1; i++)
        deal_and_listen(s, i + 1, &results[i], &requests[i]);
    while (s->done < tasks) {
        int i;
        MPI_Status status;
        MPI_Waitany(ranks - 1, requests, &i, &status);
        check(status.MPI_SOURCE == i + 1, "result %d is from %d", i, status.MPI_SOURCE);
        account(s, results[i]);
        deal_and_listen(s, i + 1, &results[i], &requests[i]);
    }
}

NAMED static void master_waitsome(struct round_state *s)
{
    long results[ranks];
    MPI_Request requests[ranks];
    int indices[ranks];
    MPI_Status statuses[ranks];
    for (int i = 0; i < ranks - 1; i++)
        deal_and_listen(s, i + 1, &results[i], &requests[i]);
    while (s->done < tasks) {
        int n;
        MPI_Waitsome(ranks - 1, requests, &n, indices, statuses);
        for (int k = 0; k < n; k++) {
            int i = indices[k];
            check(statuses[k].MPI_SOURCE == i + 1, "result %d is from %d", i, statuses[k].MPI_SOURCE);
            account(s, results[i]);
            deal_and_listen(s, i + 1, &results[i], &requests[i]);
        }
    }
}

static void master(void)
{
    void (*const rounds[])(struct round_state *) = {master_any_source, master_waitany, master_waitsome};
    for (int i = 0; i < 3; i++) {
        struct round_state s = {.next = 1};
        rounds[i](&s);
        check(s.sum == tasks * (tasks + 1) * (2 * tasks + 1) / 6, "round %d: sum %ld", i, s.sum);
        say("master_worker: round %d, sum %ld", i + 1, s.sum);
    }
    for (int worker = 1; worker < ranks; worker++)
        MPI_Send(NULL, 0, MPI_LONG, worker, STOP, MPI_COMM_WORLD);
}

NAMED static long work_on(long task)
{
    compute_us(work_us * (1 + task % 3));
    return task * task;
}

static void worker(void)
{
    for (;;) {
        long task = 0;
        MPI_Status status;
        MPI_Recv(&task, 1, MPI_LONG, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == STOP)
            return;
        long result = work_on(task);
        MPI_Send(&result, 1, MPI_LONG, 0, RESULT, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    begin(argc, argv, options);
    if (rank == 0)
        master();
    else
        worker();
    return end();
}
