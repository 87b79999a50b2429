// SPDX-License-Identifier: Apache-2.0
// MPI_THREAD_MULTIPLE: three threads per rank, each on a communicator of its own, so that thread t of all ranks are a
// ring of their own. Where the MPI library does not provide it, the main thread does it alone.
//
//   --rounds N   per thread, default 5
//   --threads T  default 3, at most 8
//
// Known beforehand:
//   Calls     per thread and round one each of MPI_Sendrecv, MPI_Isend, MPI_Irecv, MPI_Waitall and MPI_Allreduce; the
//             order of the threads' calls is not known.
//   Results   thread t of rank r sends 1000 t + r.
//   Topology  a ring per communicator.
#include "common.h"

#include <pthread.h>

enum { MOST = 8 };

static long rounds = 5, threads = 3;

static const struct option options[] = {
    {"--rounds", "per thread", .number = &rounds},
    {"--threads", "threads per rank, at most 8", .number = &threads},
    {0},
};

struct part {
    int number;
    MPI_Comm comm;
    pthread_t thread;
};

static int value_of(const struct part *p, int r)
{
    return 1000 * p->number + r;
}

NAMED static void exchange(const struct part *p)
{
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    int mine = value_of(p, rank), from_left = -1, from_right = -1;
    MPI_Request requests[2];
    MPI_Sendrecv(&mine, 1, MPI_INT, right, 1, &from_left, 1, MPI_INT, left, 1, p->comm, MPI_STATUS_IGNORE);
    MPI_Irecv(&from_right, 1, MPI_INT, right, 2, p->comm, &requests[0]);
    MPI_Isend(&mine, 1, MPI_INT, left, 2, p->comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check(from_left == value_of(p, left) && from_right == value_of(p, right), "thread %d: %d and %d", p->number, from_left, from_right);
}

NAMED static void add_up(const struct part *p)
{
    int mine = value_of(p, rank), sum = -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, p->comm);
    check(sum == 1000 * p->number * ranks + ranks * (ranks - 1) / 2, "thread %d: sum %d", p->number, sum);
}

static void *run(void *argument)
{
    const struct part *p = argument;
    for (long k = 0; k < rounds; k++) {
        exchange(p);
        add_up(p);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct part parts[MOST];
    int provided, asked, main_thread = 0;
    before_init(argc, argv, options);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    after_init();
    MPI_Query_thread(&asked);
    MPI_Is_thread_main(&main_thread);
    check(asked == provided && main_thread, "level %d is provided, but %d", provided, asked);
    if (threads > MOST)
        threads = MOST;
    for (int t = 0; t < threads; t++) {
        parts[t].number = t;
        MPI_Comm_dup(MPI_COMM_WORLD, &parts[t].comm);
    }
    bool several = provided == MPI_THREAD_MULTIPLE;
    if (rank == 0)
        say("threads: %ld on each of %d ranks", several ? threads : 1, ranks);
    for (int t = 0; t < threads; t++) {
        if (!several)
            run(&parts[t]);
        else if (!check(pthread_create(&parts[t].thread, NULL, run, &parts[t]) == 0, "thread %d cannot be started", t))
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int t = 0; several && t < threads; t++)
        pthread_join(parts[t].thread, NULL);
    for (int t = 0; t < threads; t++)
        MPI_Comm_free(&parts[t].comm);
    return end();
}
